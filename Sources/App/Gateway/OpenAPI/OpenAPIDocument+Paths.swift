extension OpenAPIDocument {
    static let head = #"""
        openapi: 3.1.0
        info:
          title: Gatehouse
          version: 0.1.0
          summary: A WebRTC gateway for cameras and doorbells.
          description: >-
            Every request but those for the page, its parts and /healthz carries a bearer token. Errors have the form of
            the schema Error with gRPC's numbers and names. A request with an Origin that is neither the gateway's own
            nor listed in the config is refused with 403.
          license: {name: Apache 2.0, identifier: Apache-2.0}
        servers: [{url: /}]
        security: [{bearer: []}]

        """#

    static let paths = #"""
        paths:
          /:
            get:
              summary: The web page
              operationId: getPage
              security: []
              responses:
                "200": {description: The page., content: {text/html: {schema: {type: string}}}}
                "304": {description: The page is the one that the client has.}
          /assets/{file}:
            get:
              summary: A part of the web page
              operationId: getAsset
              security: []
              parameters: [{name: file, in: path, required: true, schema: {type: string}}]
              responses:
                "200": {description: The part.}
                "304": {description: The part is the one that the client has.}
                "404": {$ref: "#/components/responses/Failure"}
          /healthz:
            get:
              summary: Whether the process answers
              operationId: getHealth
              security: []
              responses:
                "200": {description: It does., content: {text/plain: {schema: {type: string, const: "ok\n"}}}}
          /metrics:
            get:
              summary: Metrics for Prometheus
              operationId: getMetrics
              responses:
                "200": {description: The text exposition format., content: {text/plain: {schema: {type: string}}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/openapi.json:
            get:
              summary: This document
              operationId: getOpenAPI
              responses:
                "200": {description: This document., content: {application/json: {schema: {type: object}}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/gateway:
            get:
              summary: The gateway itself
              operationId: getGateway
              responses:
                "200":
                  description: Version, ports and limits.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Gateway"}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/devices:
            get:
              summary: All devices
              operationId: listDevices
              responses:
                "200":
                  description: The devices in the config's order.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [devices]
                        additionalProperties: false
                        properties: {devices: {type: array, items: {$ref: "#/components/schemas/Device"}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/devices/{device}:
            parameters: [{$ref: "#/components/parameters/device"}]
            get:
              summary: One device
              operationId: getDevice
              responses:
                "200":
                  description: The device.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Device"}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/devices/{device}/speaker:
            parameters: [{$ref: "#/components/parameters/device"}]
            get:
              summary: Who has the device's speaker, what is delivered to it, and what it heard
              operationId: getSpeaker
              responses:
                "200":
                  description: The talker, the talk and the last clip; a measurement where the camera can measure.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Speaker"}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/devices/{device}/speaker/clips:
            parameters: [{$ref: "#/components/parameters/device"}]
            post:
              summary: Play a clip through the device's speaker
              description: >-
                The clip takes the floor as a talker of its own; somebody who talks is not interrupted. The answer comes
                when the camera takes the sound, which then plays by itself.
              operationId: playClip
              requestBody:
                required: true
                content:
                  audio/wav:
                    schema:
                      type: string
                      format: binary
                      description: A WAV file of at most 30 seconds and 6 MiB.
                  application/json:
                    schema:
                      type: object
                      required: [name]
                      additionalProperties: false
                      properties: {name: {type: string, const: chime}}
              responses:
                "201":
                  description: It plays.
                  headers: {Location: {schema: {type: string}}}
                  content: {application/json: {schema: {$ref: "#/components/schemas/TalkClip"}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/devices/{device}/speaker/clips/{clip}:
            parameters:
              - {$ref: "#/components/parameters/device"}
              - {name: clip, in: path, required: true, schema: {type: string}}
            delete:
              summary: End a clip
              operationId: stopClip
              responses:
                "204": {description: It does not play any more.}
                default: {$ref: "#/components/responses/Failure"}
          /v1/devices/{device}/traits/{trait}:
            parameters: [{$ref: "#/components/parameters/device"}, {$ref: "#/components/parameters/trait"}]
            get:
              summary: The attributes of one trait
              operationId: getTrait
              responses:
                "200":
                  description: The attributes.
                  content:
                    application/json:
                      schema:
                        anyOf:
                          - {$ref: "#/components/schemas/WebRtcLiveView"}
                          - {$ref: "#/components/schemas/PushAvStreamTransport"}
                          - {$ref: "#/components/schemas/DoorbellPress"}
                default: {$ref: "#/components/responses/Failure"}
          /v1/devices/{device}/traits/{trait}/commands/{command}:
            parameters:
              - {$ref: "#/components/parameters/device"}
              - {$ref: "#/components/parameters/trait"}
              - name: command
                in: path
                required: true
                description: A command of the trait.
                schema:
                  type: string
                  enum:
                    - startLiveView
                    - extendLiveView
                    - stopLiveView
                    - startTalkback
                    - stopTalkback
                    - changeLiveViewQuality
                    - press
            post:
              summary: Send a command to a trait
              operationId: sendCommand
              description: >-
                WebRtcLiveView takes startLiveView, extendLiveView, stopLiveView, startTalkback, stopTalkback and
                changeLiveViewQuality. DoorbellPress takes press. Each parameters schema is named after its command; a
                command without result answers an empty object.
              requestBody:
                required: false
                content:
                  application/json:
                    schema:
                      anyOf:
                        - {$ref: "#/components/schemas/startLiveView"}
                        - {$ref: "#/components/schemas/extendLiveView"}
                        - {$ref: "#/components/schemas/stopLiveView"}
                        - {$ref: "#/components/schemas/startTalkback"}
                        - {$ref: "#/components/schemas/stopTalkback"}
                        - {$ref: "#/components/schemas/changeLiveViewQuality"}
                        - {$ref: "#/components/schemas/press"}
              responses:
                "200":
                  description: The command's result.
                  content:
                    application/json:
                      schema:
                        anyOf:
                          - {$ref: "#/components/schemas/startLiveViewResult"}
                          - {$ref: "#/components/schemas/extendLiveViewResult"}
                          - {$ref: "#/components/schemas/changeLiveViewQualityResult"}
                          - {$ref: "#/components/schemas/Empty"}
                default: {$ref: "#/components/responses/Failure"}

        """#
}
