extension OpenAPIDocument {
    static let components = #"""
        components:
          securitySchemes:
            bearer: {type: http, scheme: bearer, description: The token that gatehouse token shows.}
          parameters:
            camera:
              name: camera
              in: path
              required: true
              description: The camera's identifier, which is also that of its device.
              schema: {type: string}
            device: {name: device, in: path, required: true, description: The id in the config., schema: {type: string}}
            session: {name: session, in: path, required: true, description: A mediaSessionId., schema: {type: string}}
            trait:
              name: trait
              in: path
              required: true
              schema: {type: string, enum: [WebRtcLiveView, PushAvStreamTransport, DoorbellPress]}
          requestBodies:
            CameraSettings:
              required: true
              content: {application/json: {schema: {$ref: "#/components/schemas/CameraSettings"}}}
          responses:
            Failure:
              description: What was wrong, where, and what to do.
              content: {application/json: {schema: {$ref: "#/components/schemas/Error"}}}
          schemas:
            Empty: {type: object, additionalProperties: false}
            Error:
              type: object
              required: [error]
              additionalProperties: false
              properties:
                error:
                  type: object
                  required: [code, status, message]
                  additionalProperties: false
                  properties:
                    code: {type: integer, minimum: 1, maximum: 16, description: gRPC's number.}
                    status: {type: string, description: gRPC's name.}
                    message: {type: string}
            Gateway:
              type: object
              required: [name, version, liveSessionDurationSeconds, maximumLiveSessionDurationSeconds, iceServers]
              additionalProperties: false
              properties:
                name: {type: string}
                version: {type: string}
                httpsPort: {type: integer}
                liveSessionDurationSeconds: {type: integer}
                maximumLiveSessionDurationSeconds: {type: integer}
                iceServers:
                  type: array
                  items:
                    type: object
                    required: [urls]
                    additionalProperties: false
                    properties:
                      urls: {type: array, items: {type: string}}
                      username: {type: string}
                      credential: {type: string}
            Device:
              type: object
              required:
                [id, name, type, typeIdentifier, connectivityState, dataSourceLocality, source, activeDetections, traits]
              additionalProperties: false
              properties:
                id: {type: string}
                name: {type: string}
                type: {type: string, enum: [GoogleCameraDeviceType, GoogleDoorbellDeviceType]}
                typeIdentifier: {type: string}
                connectivityState: {type: string, enum: [unknown, online, offline, partiallyOnline]}
                dataSourceLocality: {type: string, enum: [unspecified, direct, localPeer, remote, mixed]}
                source: {$ref: "#/components/schemas/Source"}
                eventSource: {$ref: "#/components/schemas/EventSource"}
                activeDetections:
                  type: array
                  description: What it notices just now.
                  items: {$ref: "#/components/schemas/DetectionKind"}
                traits:
                  type: object
                  additionalProperties: false
                  properties:
                    WebRtcLiveView: {$ref: "#/components/schemas/WebRtcLiveView"}
                    PushAvStreamTransport: {$ref: "#/components/schemas/PushAvStreamTransport"}
                    DoorbellPress: {$ref: "#/components/schemas/DoorbellPress"}
            Source:
              type: object
              required: [state, tracks]
              additionalProperties: false
              properties:
                state:
                  type: string
                  enum:
                    - idle
                    - resolving
                    - connecting
                    - authenticating
                    - describing
                    - settingUp
                    - flowing
                    - stalled
                    - backingOff
                    - givenUp
                    - stopped
                reason: {type: string}
                retryAt: {type: string, format: date-time, description: When a source that was given up is tried next.}
                tracks:
                  type: array
                  items:
                    type: object
                    required: [kind, codec]
                    additionalProperties: false
                    properties: {kind: {type: string, enum: [video, audio]}, codec: {type: string}}
            Speaker:
              type: object
              additionalProperties: false
              properties:
                reading:
                  type: object
                  required: [samples, rootMeanSquare]
                  additionalProperties: false
                  properties:
                    samples: {type: integer, description: Samples heard at 48 kHz.}
                    rootMeanSquare: {type: number, description: Loudness from 0 to 1.}
                    dominantFrequency: {type: number, description: In hertz.}
                talker: {type: string, enum: [session, clip]}
                talkback: {$ref: "#/components/schemas/Talkback"}
                clip: {$ref: "#/components/schemas/TalkClip"}
            TalkClip:
              type: object
              required: [id, durationSeconds, talkback]
              additionalProperties: false
              properties:
                id: {type: string}
                durationSeconds: {type: number}
                talkback: {$ref: "#/components/schemas/Talkback"}
            Talkback:
              type: object
              description: What becomes of what is said, from the microphone through the gateway to the camera.
              required:
                - state
                - packetsReceived
                - packetsLost
                - millisecondsReceived
                - millisecondsQueued
                - millisecondsSent
                - millisecondsDropped
                - millisecondsOfSilence
                - packetsSent
                - packetsDropped
              additionalProperties: false
              properties:
                state: {type: string, enum: [opening, talking, refused, ended]}
                reason: {type: string}
                codec: {type: string, description: "The codec of the camera's speaker, for example PCMU/8000."}
                millisecondsToOpen: {type: number}
                packetsReceived: {type: integer}
                packetsLost: {type: integer}
                millisecondsReceived: {type: number}
                millisecondsQueued: {type: number}
                millisecondsSent: {type: number}
                millisecondsDropped: {type: number}
                millisecondsOfSilence: {type: number}
                packetsSent: {type: integer}
                packetsDropped: {type: integer}
            WebRtcLiveView:
              type: object
              additionalProperties: false
              properties: {supportedTalkbackType: {type: string, enum: [directly, renegotiation]}}
            PushAvStreamTransport:
              type: object
              required: [currentConnections]
              additionalProperties: false
              properties:
                currentConnections:
                  type: array
                  items:
                    type: object
                    required: [connectionID, transportStatus]
                    additionalProperties: false
                    properties:
                      connectionID: {type: integer, minimum: 0, maximum: 65534}
                      transportStatus: {type: string, enum: [active, inactive]}
            DoorbellPress: {$ref: "#/components/schemas/Empty"}
            QualityHint: {type: string, enum: [unspecified, sd, hd, fhd, qhd, uhd]}
            startLiveView:
              type: object
              required: [offerSdp]
              properties:
                offerSdp: {type: string}
                qualityHint: {$ref: "#/components/schemas/QualityHint"}
            startLiveViewResult:
              type: object
              required: [mediaSessionId, answerSdp, liveSessionDurationSeconds]
              additionalProperties: false
              properties:
                mediaSessionId: {type: string}
                answerSdp: {type: string}
                liveSessionDurationSeconds: {type: integer, minimum: 1, maximum: 65535}
                notes: {type: array, items: {type: string}, description: What of the offer was not used and why.}
            extendLiveView:
              type: object
              required: [mediaSessionId]
              properties:
                mediaSessionId: {type: string}
                extendedDurationSeconds: {type: integer, minimum: 0, maximum: 65535}
            extendLiveViewResult:
              type: object
              required: [liveSessionDurationSeconds]
              additionalProperties: false
              properties: {liveSessionDurationSeconds: {type: integer, minimum: 1, maximum: 65535}}
            stopLiveView: {type: object, required: [mediaSessionId], properties: {mediaSessionId: {type: string}}}
            startTalkback:
              type: object
              required: [mediaSessionId]
              properties: {mediaSessionId: {type: string}, offerSdp: {type: string}}
            stopTalkback: {type: object, required: [mediaSessionId], properties: {mediaSessionId: {type: string}}}
            changeLiveViewQuality:
              type: object
              required: [mediaSessionId, qualityHint]
              properties:
                mediaSessionId: {type: string}
                qualityHint: {$ref: "#/components/schemas/QualityHint"}
            changeLiveViewQualityResult:
              type: object
              required: [qualityHint]
              additionalProperties: false
              properties: {qualityHint: {$ref: "#/components/schemas/QualityHint"}}
            press: {type: object}
            Session:
              type: object
              required:
                - mediaSessionId
                - deviceID
                - principal
                - state
                - expiresInSeconds
                - expiresAt
                - isTalking
                - codecs
                - steps
                - statistics
                - notes
              additionalProperties: false
              properties:
                mediaSessionId: {type: string}
                deviceID: {type: string}
                principal: {type: string}
                state: {type: string, enum: [connecting, connected, disconnected, ended]}
                expiresInSeconds: {type: number}
                expiresAt: {type: string, format: date-time}
                isTalking: {type: boolean}
                talkback: {$ref: "#/components/schemas/Talkback"}
                codecs: {type: array, items: {type: string}}
                steps:
                  type: array
                  items:
                    type: object
                    required: [name, milliseconds]
                    additionalProperties: false
                    properties:
                      name:
                        type: string
                        description: offer, answer, firstCheck, pair, dtls, firstPacket or firstKeyFrame.
                      milliseconds: {type: number}
                statistics:
                  type: object
                  required:
                    - packetsSent
                    - bytesSent
                    - packetsRetransmitted
                    - framesDropped
                    - keyFrameRequests
                    - fractionLost
                    - roundTripMilliseconds
                    - talkbackPackets
                    - refusedDatagrams
                  additionalProperties: {type: number}
                  properties:
                    packetsSent: {type: integer}
                    bytesSent: {type: integer}
                    packetsRetransmitted: {type: integer}
                    framesDropped: {type: integer}
                    keyFrameRequests: {type: integer}
                    fractionLost: {type: number}
                    roundTripMilliseconds: {type: number}
                    talkbackPackets: {type: integer}
                    refusedDatagrams: {type: integer}
                notes: {type: array, items: {type: string}}
                cameraState: {type: string, description: Where the camera stands.}
                cameraReason: {type: string, description: 'Why the camera is not flowing, or what of it is not.'}
            SessionEvent:
              type: object
              required: [change, session]
              additionalProperties: false
              properties:
                change: {type: string, enum: [started, changed, ended]}
                session: {$ref: "#/components/schemas/Session"}
            MissedEvent:
              type: object
              required: [reason]
              additionalProperties: false
              properties: {reason: {type: string, description: What was lost and what to do.}}
            DeviceRemoved:
              type: object
              required: [deviceID]
              additionalProperties: false
              properties: {deviceID: {type: string}}
            DoorbellPressed:
              type: object
              required: [deviceID, timestamp]
              additionalProperties: false
              properties:
                deviceID: {type: string}
                timestamp: {type: string, format: date-time}
                complementaryToneId: {type: string}
                doorbellPressTimeSeconds: {type: integer}
                priority: {type: integer}

        """#
}
