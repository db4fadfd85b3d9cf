# Writes a receipt into a store for every note that has none: a record like any other, signed
# by the receiver (050 Receipts). Usage: sh write-receipts.sh STORE KEY SENDER
set -eu
store=$1 key=$2 sender=$3
here=$(dirname "$0")
lacec query 'Owed(P)' --with "$here/owed.lace" --store "$store" | tail -n +2 |
while read -r hash; do
    lacec record new /dev/null --group lace --app receipt --name "store/$hash" \
        --header "Stored-Hash: $hash" --header "Stored-From: $sender" --key "$key" |
        lacec store import "$store" -
done
