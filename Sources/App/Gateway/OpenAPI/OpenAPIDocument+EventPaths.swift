extension OpenAPIDocument {
    /// The events of one device.
    static let eventPaths = #"""
          /v1/devices/{device}/events:
            parameters: [{$ref: "#/components/parameters/device"}]
            get:
              summary: What happened at the device, newest first
              operationId: listDeviceEvents
              parameters:
                - name: since
                  in: query
                  description: A time, or the id of an event; only what happened then or later, or after that event.
                  schema: {type: string}
                - {name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 200, default: 50}}
              responses:
                "200":
                  description: The events.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [events]
                        additionalProperties: false
                        properties: {events: {type: array, items: {$ref: "#/components/schemas/DeviceEvent"}}}
                default: {$ref: "#/components/responses/Failure"}
            post:
              summary: Report an event of the device
              operationId: reportDeviceEvent
              description: >-
                Takes the device's own webhook token, which gatehouse token --webhook shows, as well as the owner's.
                Repetitions are answered with accepted false. More than a burst of 20, and then one a second, is
                refused with 429.
              requestBody:
                required: true
                content: {application/json: {schema: {$ref: "#/components/schemas/ReportedEvent"}}}
              responses:
                "200":
                  description: It was taken.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Report"}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/webhooks/{device}/{secret}/{type}:
            parameters:
              - {$ref: "#/components/parameters/device"}
              - {name: secret, in: path, required: true, description: The webhook token., schema: {type: string}}
              - {name: type, in: path, required: true, schema: {$ref: "#/components/schemas/ReportedEventType"}}
              - name: active
                in: query
                description: Whether it is there now; absent for what merely happened.
                schema: {type: string, enum: ["true", "false", "1", "0", "on", "off"]}
            get:
              summary: Report an event, for cameras that can only open an address
              operationId: reportEventByAddress
              security: []
              responses:
                "200":
                  description: It was taken.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Report"}}}
                default: {$ref: "#/components/responses/Failure"}
            post:
              summary: Report an event, for cameras that can only open an address
              operationId: postEventByAddress
              security: []
              responses:
                "200":
                  description: It was taken.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Report"}}}
                default: {$ref: "#/components/responses/Failure"}

        """#

    static let eventComponents = #"""
            DetectionKind: {type: string, enum: [motion, person, face, vehicle, animal, package, sound]}
            ReportedEventType:
              {type: string, enum: [doorbellPressed, motion, person, face, vehicle, animal, package, sound]}
            ReportedEvent:
              type: object
              required: [type]
              properties:
                type: {$ref: "#/components/schemas/ReportedEventType"}
                active: {type: boolean, description: Whether it is there now; absent for what merely happened.}
                complementaryToneId: {type: string, maxLength: 64}
                doorbellPressTimeSeconds: {type: integer}
                priority: {type: integer}
            Report:
              type: object
              required: [accepted]
              additionalProperties: false
              properties: {accepted: {type: boolean, description: Whether it was news and not a repetition.}}
            EventSource:
              type: object
              description: How the connection stands that brings the device's events.
              required: [state]
              additionalProperties: false
              properties:
                state: {type: string, enum: [connecting, subscribed, backingOff, stopped]}
                reason: {type: string}
                manufacturer: {type: string}
                model: {type: string}
            Detection:
              type: object
              required: [deviceID, trait, timestamp, phase, eventSessionId]
              additionalProperties: false
              properties:
                deviceID: {type: string}
                trait: {type: string, description: "CameraMotion, CameraPerson, CameraSound and the like."}
                timestamp: {type: string, format: date-time}
                cameraTimestamp: {type: string, format: date-time, description: By the camera's clock.}
                phase: {$ref: "#/components/schemas/DetectionPhase"}
                eventSessionId: {type: string, description: The same for the beginning and the end of one stay.}
            DetectionPhase: {type: string, enum: [began, ended, momentary]}
            DeviceEvent:
              type: object
              required: [id, deviceID, trait, event, timestamp]
              additionalProperties: false
              properties:
                id: {type: string, description: Also its place in /v1/events.}
                deviceID: {type: string}
                trait: {type: string}
                event:
                  type: string
                  enum: [DoorbellPressed, Motion, Person, Face, Vehicle, Animal, Package, Sound]
                timestamp: {type: string, format: date-time}
                cameraTimestamp: {type: string, format: date-time}
                phase: {$ref: "#/components/schemas/DetectionPhase"}
                eventSessionId: {type: string}
                complementaryToneId: {type: string}
                doorbellPressTimeSeconds: {type: integer}
                priority: {type: integer}

        """#
}
