extension OpenAPIDocument {
    /// The cameras' settings and pictures.
    static let cameraPaths = #"""
          /v1/configuration:
            get:
              summary: How the gateway stands to its config file
              operationId: getConfiguration
              description: >-
                The config file is read again when it changes. One with problems changes nothing: they are listed here
                with their file, line and key until it is right.
              responses:
                "200":
                  description: What is in force and what is not.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Configuration"}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/cameras:
            get:
              summary: The settings of all cameras, without secrets
              operationId: listCameras
              responses:
                "200":
                  description: The cameras in the order in which people see them.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [cameras]
                        additionalProperties: false
                        properties: {cameras: {type: array, items: {$ref: "#/components/schemas/Camera"}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/cameras/{camera}:
            parameters: [{$ref: "#/components/parameters/camera"}]
            get:
              summary: The settings of one camera, without secrets
              operationId: getCamera
              responses:
                "200":
                  description: The camera.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Camera"}}}
                default: {$ref: "#/components/responses/Failure"}
            put:
              summary: Add a camera, or give it other settings
              operationId: putCamera
              description: >-
                Kept through restarts. Settings that are left out get their defaults. A source as a GET showed it, with
                its mark in the place of the password, keeps its password. Cameras of the config file are changed there,
                and refused here.
              requestBody: {$ref: "#/components/requestBodies/CameraSettings"}
              responses:
                "200":
                  description: The camera has other settings now.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Camera"}}}
                "201":
                  description: The camera is new.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Camera"}}}
                default: {$ref: "#/components/responses/Failure"}
            patch:
              summary: Change some settings of a camera
              operationId: patchCamera
              description: A merge patch (RFC 7396); null gives a setting its default.
              requestBody: {$ref: "#/components/requestBodies/CameraSettings"}
              responses:
                "200":
                  description: The camera.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Camera"}}}
                default: {$ref: "#/components/responses/Failure"}
            delete:
              summary: Take a camera away; its sessions end
              operationId: deleteCamera
              responses:
                "204": {description: It is gone.}
                default: {$ref: "#/components/responses/Failure"}
          /v1/cameras/{camera}/reconnect:
            parameters:
              - {$ref: "#/components/parameters/camera"}
            post:
              summary: Connect to a camera anew, also one that was given up; its sessions stay
              operationId: reconnectCamera
              responses:
                "204": {description: The camera is being connected to.}
                default: {$ref: "#/components/responses/Failure"}
          /v1/devices/{device}/snapshot.jpg:
            parameters:
              - {$ref: "#/components/parameters/device"}
              - name: width
                in: query
                description: The most pixels across.
                schema: {type: integer, minimum: 16, maximum: 8192}
            get:
              summary: The newest picture of a device
              operationId: getSnapshot
              responses:
                "200":
                  description: The picture.
                  headers:
                    Age: {description: Whole seconds since the camera took it., schema: {type: string}}
                    Age-Milliseconds: {description: The same in milliseconds., schema: {type: string}}
                  content: {image/jpeg: {schema: {type: string, format: binary}}}
                default: {$ref: "#/components/responses/Failure"}

        """#

    /// The schemas of ``cameraPaths``, part of the components.
    static let cameraSchemas = #"""
            Configuration:
              type: object
              required: [camerasFile, loadedAt, problems, needsRestart, notes]
              additionalProperties: false
              properties:
                file: {type: string, description: The config file; missing for the built-in config.}
                camerasFile: {type: string, description: Where cameras that were added over the API are kept.}
                loadedAt: {type: string, format: date-time}
                problems:
                  type: array
                  items:
                    type: object
                    required: [file, line, key, reason]
                    additionalProperties: false
                    properties:
                      file: {type: string}
                      line: {type: integer, description: From 1; 0 for the whole file.}
                      key: {type: string}
                      reason: {type: string}
                needsRestart:
                  type: array
                  items: {type: string}
                  description: Keys that were changed and count from the next start on.
                notes: {type: array, items: {type: string}}
            CameraSettings:
              type: object
              additionalProperties: false
              properties:
                id: {type: string, description: That of the path.}
                name: {type: [string, "null"]}
                type: {type: [string, "null"], enum: [doorbell, camera, null]}
                source:
                  type: [string, "null"]
                  description: "builtin:doorbell, builtin:silent, whip, or an rtsp://, rtsps:// or onvif:// URL."
                substream:
                  type: [string, "null"]
                  description: "An rtsp:// or rtsps:// URL; or onvif, with a source of that kind."
                transport: {type: [string, "null"], enum: [auto, tcp, udp, http, null]}
                keepAlive:
                  type: [string, "null"]
                  enum: [auto, get-parameter, set-parameter, options, rtcp, none, null]
                pull: {type: [string, "null"], enum: [always, on-demand, null]}
                talkback: {type: [string, "null"], enum: [auto, "off", null]}
                transcodeVideo:
                  type: [string, boolean, "null"]
                  enum: [auto, always, never, true, false, null]
                  description: "true is the same as always, false the same as never."
                onvif:
                  type: [object, "null"]
                  additionalProperties: false
                  properties:
                    url: {type: string}
                    username: {type: string}
                    password: {type: string}
                webhook: {type: [boolean, "null"]}
            Camera:
              type: object
              required:
                [id, name, type, source, transport, keepAlive, pull, talkback, transcodeVideo, webhook, origin,
                 connectivityState, status]
              additionalProperties: false
              properties:
                id: {type: string}
                name: {type: string}
                type: {type: string, enum: [doorbell, camera]}
                source: {type: string, description: A password in it is shown as ***.}
                substream: {type: string, description: A password in it is shown as ***.}
                transport: {type: string, enum: [auto, tcp, udp, http]}
                keepAlive: {type: string, enum: [auto, get-parameter, set-parameter, options, rtcp, none]}
                pull: {type: string, enum: [always, on-demand]}
                talkback: {type: string, enum: [auto, "off"]}
                transcodeVideo: {type: string, enum: [auto, always, never]}
                onvif:
                  type: object
                  required: [url]
                  additionalProperties: false
                  properties:
                    url: {type: string}
                    username: {type: string}
                    password: {type: string, const: "***"}
                webhook: {type: boolean}
                origin:
                  type: string
                  enum: [file, api, builtin]
                  description: Where the settings are written. Those of file are changed in the config file.
                connectivityState: {type: string, enum: [unknown, online, offline, partiallyOnline]}
                status: {$ref: "#/components/schemas/Source"}
                findings:
                  type: object
                  required: [profile, speaker, notes]
                  additionalProperties: false
                  description: What was found out about the camera, and is kept for its next connection.
                  properties:
                    profile:
                      type: object
                      description: "carriage, keepAlive, backChannel, authentication, quirks and the like."
                      additionalProperties: {type: string}
                    carriage: {type: string, enum: [tcp, udp, http], description: What carries the packets now.}
                    keepAlive: {type: string}
                    speaker:
                      type: array
                      items: {type: string}
                      description: What the camera's speaker takes, for example PCMA/8000.
                    notes: {type: array, items: {type: string}}

        """#
}
