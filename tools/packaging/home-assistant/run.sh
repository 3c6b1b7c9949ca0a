#!/bin/sh
# Starts the gateway as an add-on: the options of Home Assistant answer the questions of gatehouse setup at the first start.
# After that the config counts, which is in the add-on's config folder.
set -eu
: "${DATA:=/data}" "${CONFIG:=/config}"
export STATE_DIRECTORY="$DATA" CONFIGURATION_DIRECTORY="$CONFIG"

option() { jq --raw-output ".$1" "$DATA/options.json"; }

if [ ! -e "$CONFIG/gatehouse.yaml" ]; then
    recordings=none
    if [ "$(option recordings)" = true ]; then recordings=/media/gatehouse; fi
    gatehouse setup --output "$CONFIG/gatehouse.yaml" --camera "$(option camera)" --name "$(option name)" --open \
        --recordings "$recordings"
fi
# Nobody can call a command in the add-on, so its log shows the address that signs in, if the options allow that.
if [ "$(option show_token)" = true ]; then
    (
        tries=0
        until [ -e "$DATA/running.json" ] || [ "$tries" -ge 60 ]; do
            sleep 1
            tries=$((tries + 1))
        done
        gatehouse token --url
    ) &
fi
exec gatehouse serve "$@"
