# What `make demo` shows: a policy, its identity and what it selects; one side of a plan; a
# policy with mistakes; a record that is signed, shown and checked; two stores that exchange.
set -eu
cd "$(dirname "$0")"
examples=$PWD

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
echo
echo '$ lacec store init left; lacec store init right'
lacec store init left
lacec store init right
echo 'for group X' | lacec record new --group X --app ding --name shared --key alice.key -o two
echo '$ lacec store import left one two'
lacec store import left one two
policy="$examples/ours.lace"
echo '$ lacec run-interlace --left left --right right --policy ours.lace'
lacec run-interlace --left left --right right --policy "$policy"
echo '$ lacec run-interlace --left left --right right --policy ours.lace --expose selected --dry-run'
lacec run-interlace --left left --right right --policy "$policy" --expose selected --dry-run
echo '$ lacec run-interlace --left left --right right --policy ours.lace --expose selected'
lacec run-interlace --left left --right right --policy "$policy" --expose selected
