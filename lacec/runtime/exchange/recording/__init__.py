"""Recordings: an exchange as a stream that can be read with the eye, and replayed.

A recording is text in the form of 060. Each block opens with a `Recorded` fact that says of
which side it is and what: how it takes part, what it was told, what it heard or said, what
was answered to its questions, and how it ended. That is everything that goes into a machine
and comes out of it, so that fresh machines can be given the same, without the stores.

    # left → right: request
    Recorded('1','hears','request')
    MayRequest('P.K0N~9isoMLOSfeBRcJd97_lC8JMVc~Sywcw5a76TqUh.H3')
"""
