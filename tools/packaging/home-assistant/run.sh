#!/bin/sh
# Starts the gateway as an add-on: the options of Home Assistant answer the questions of gatehouse setup at the first start.
# After that the config counts, which is in the add-on's config folder.
set -eu
: "${DATA:=/data}" "${CONFIG:=/config}" "${SUPERVISOR:=http://supervisor}" "${PROC:=/proc}"
export STATE_DIRECTORY="$DATA" CONFIGURATION_DIRECTORY="$CONFIG"

option() { jq --raw-output ".$1" "$DATA/options.json"; }
# Whether a program of this machine listens on a TCP port. The add-on has the host's network.
listens() { cat "$PROC/net/tcp" "$PROC/net/tcp6" 2>/dev/null | grep -q ":$(printf '%04X' "$1") [0-9A-F]*:0000 0A "; }

if [ ! -e "$CONFIG/gatehouse.yaml" ]; then
    recordings=none
    if [ "$(option recordings)" = true ]; then recordings=/media/gatehouse; fi
    gatehouse setup --output "$CONFIG/gatehouse.yaml" --camera "$(option camera)" --name "$(option name)" --open \
        --recordings "$recordings"
    # The gateway does not start where another add-on, such as Frigate or go2rtc, has its port.
    # One that serves RTSP at 8554 uses 8555 for WebRTC, perhaps only later.
    port=8554
    while [ "$port" -lt 8600 ] && listens "$port"; do
        port=$((port + 1))
        if [ "$port" -eq 8555 ]; then port=8556; fi
    done
    {
        printf '\n# For Home Assistant ("Live pictures in Home Assistant" in the documentation). Both ask for a token, and RTSP\n'
        printf '# is for this machine alone.\ngo2rtc: true\n'
        if [ "$port" -lt 8600 ]; then
            printf 'rtsp: {host: 127.0.0.1, port: %s}\n' "$port"
        else
            printf '# Other programs had all ports from 8554 to 8599.\n# rtsp: {host: 127.0.0.1, port: 8554}\n'
        fi
    } >>"$CONFIG/gatehouse.yaml"
fi
# The Supervisor knows Home Assistant's broker, if there is one. The user and the password may change, so they come with each
# start and not into the config.
service=
if [ "$(option mqtt)" = true ] && [ -n "${SUPERVISOR_TOKEN:-}" ]; then
    service=$(printf 'Authorization: Bearer %s\n' "$SUPERVISOR_TOKEN" \
        | curl --silent --fail --max-time 10 --retry 5 --retry-connrefused --header @- "$SUPERVISOR/services/mqtt") || service=
fi
broker() { printf '%s' "$service" | jq "$@"; }
if ! broker --exit-status '(.data.host | strings) and (.data.port | numbers)' >/dev/null 2>&1; then
    service=
    # shellcheck disable=SC2016 # That is what the config says.
    if grep -q '^  username: ${MQTT_USERNAME}' "$CONFIG/gatehouse.yaml"; then
        echo "The Supervisor names no MQTT broker, so the gateway has no login for it. Restart the add-on once it does." >&2
    fi
fi
MQTT_USERNAME=$(broker --raw-output '.data.username // ""')
MQTT_PASSWORD=$(broker --raw-output '.data.password // ""')
export MQTT_USERNAME MQTT_PASSWORD
if [ -n "$service" ] && ! grep -q '^mqtt:' "$CONFIG/gatehouse.yaml"; then
    {
        printf '\n# The broker of Home Assistant. The add-on sets the two variables at each start.\nmqtt:\n'
        # What jq writes is YAML, too.
        broker --raw-output '"  host: \(.data.host | tojson)\n  port: \(.data.port)"'
        if [ "$(broker '.data.ssl')" = true ]; then printf '  tls: true\n'; fi
        if [ -n "$MQTT_USERNAME" ]; then
            # shellcheck disable=SC2016 # The gateway replaces them.
            printf '  username: ${MQTT_USERNAME}\n  password: ${MQTT_PASSWORD}\n'
        fi
    } >>"$CONFIG/gatehouse.yaml"
fi
# What opens the Supervisor is of no use to the gateway.
unset SUPERVISOR_TOKEN HASSIO_TOKEN
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
