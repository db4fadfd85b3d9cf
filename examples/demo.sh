# What `make demo` shows: two seeded stores, why one record would move between them and another
# would not, the exchange with its result, and the recording of it, replayed without the stores.
set -eu
examples=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
cp "$examples/members.lace" .
python "$examples/seed.py"

show() {
    echo "\$ $*"
    "$@"
    echo
}

at() {
    lacec store list "$1" "$2" 2> /dev/null | cut -d ' ' -f 1
}

cat members.lace
echo
for side in left right; do
    lacec store init "$side"
    show lacec store import "$side" "$side.records"
done

both='--left left --right right --policy members.lace --expose selected'
echo 'A link that will move, because a member signed it:'
echo
show lacec explain "$(at left //u//ding//links/orbit/30)" $both
echo 'And one that will not, because its signer is blocked:'
echo
show lacec explain "$(at right //u//ding//links/quiet/19)" $both
show lacec run-interlace $both --record exchange.iltp
echo 'Nothing is left to do:'
echo
show lacec run-interlace $both
echo 'The first exchange once more, from its recording, without the stores:'
echo
rm -r left right
show lacec replay exchange.iltp
