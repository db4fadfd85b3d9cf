# What to do between the two stores of this story: `run-interlace`, `explain HASH`, and so on.
lacec "$@" --expose selected \
    --left phone --left-policy sharing/phone.lace --right server --right-policy sharing/server.lace
