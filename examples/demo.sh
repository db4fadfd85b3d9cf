# What `make demo` shows: a policy, its identity and what it selects; one side of a plan; a
# policy with mistakes; a record that is signed, shown and checked.
set -eu
cd "$(dirname "$0")"

echo '$ lacec compile links.lace'
lacec compile links.lace
echo
echo '$ lacec eval links.lace --facts links.facts'
lacec eval links.lace --facts links.facts
echo
echo '$ lacec eval --plan ours.lace theirs.lace --side 0 --expose open.lace --facts ours.facts'
lacec eval --plan ours.lace theirs.lace --side 0 --expose open.lace --facts ours.facts
echo
echo '$ lacec check mistakes.lace'
lacec check mistakes.lace && exit 1 || test $? -eq 1
echo
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
echo '$ lacec key new -o alice.key'
lacec key new -o alice.key
echo "$ echo hello | lacec record new --group u --app ding --name links/one --key alice.key -o one"
echo hello | lacec record new --group u --app ding --name links/one --key alice.key -o one
echo '$ lacec record show one'
lacec record show one
echo '$ lacec record verify one'
lacec record verify one
