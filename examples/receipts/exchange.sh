# The exchange of this example: alice sends, bob receives.
lacec run-interlace --expose selected "$@" \
    --left alices --left-policy receipts/send.lace --left-key alice.key \
    --right bobs --right-policy receipts/receive.lace --right-key bob.key
