extension OpenAPIDocument {
    /// Sessions, events and WHEP.
    static let livePaths = #"""
          /v1/sessions:
            get:
              summary: The asker's live-view sessions
              operationId: listSessions
              responses:
                "200":
                  description: The sessions.
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [sessions]
                        additionalProperties: false
                        properties: {sessions: {type: array, items: {$ref: "#/components/schemas/Session"}}}
                default: {$ref: "#/components/responses/Failure"}
          /v1/sessions/{session}:
            parameters: [{$ref: "#/components/parameters/session"}]
            get:
              summary: One session, with the steps of its start and its counters
              operationId: getSession
              responses:
                "200":
                  description: The session.
                  content: {application/json: {schema: {$ref: "#/components/schemas/Session"}}}
                default: {$ref: "#/components/responses/Failure"}
            delete:
              summary: End a session
              operationId: endSession
              responses:
                "204": {description: It has ended.}
                default: {$ref: "#/components/responses/Failure"}
          /v1/events:
            get:
              summary: What changes in the home
              operationId: watchEvents
              description: >-
                Server-sent events. The state of every device and of the asker's sessions comes first, then every
                change: device (data Device), session (data SessionEvent) and DoorbellPressed (data DoorbellPressed). A comment
                comes every 15 seconds. With Last-Event-ID, presses missed since then are sent again.
              parameters: [{name: Last-Event-ID, in: header, schema: {type: string}}]
              responses:
                "200": {description: The stream., content: {text/event-stream: {schema: {type: string}}}}
                default: {$ref: "#/components/responses/Failure"}
          /whep/{device}:
            parameters: [{$ref: "#/components/parameters/device"}]
            post:
              summary: Start a live view by WHEP
              operationId: startWHEP
              requestBody:
                required: true
                content: {application/sdp: {schema: {type: string}}}
              responses:
                "201":
                  description: The SDP answer.
                  headers:
                    Location: {description: The session's path., schema: {type: string}}
                    ETag: {description: The ICE generation., schema: {type: string}}
                    Link: {description: STUN and TURN servers; where to look at the session., schema: {type: string}}
                    Accept-Patch: {schema: {type: string, const: application/trickle-ice-sdpfrag}}
                  content: {application/sdp: {schema: {type: string}}}
                default: {$ref: "#/components/responses/Failure"}
            options:
              summary: What the endpoint takes
              operationId: describeWHEP
              responses:
                "204":
                  description: See the headers.
                  headers: {Accept-Post: {schema: {type: string, const: application/sdp}}}
                default: {$ref: "#/components/responses/Failure"}
          /whep/{device}/{session}:
            parameters: [{$ref: "#/components/parameters/device"}, {$ref: "#/components/parameters/session"}]
            patch:
              summary: Add candidates or restart ICE
              operationId: patchWHEP
              parameters:
                - name: If-Match
                  in: header
                  description: The session's ETag for candidates, * for a restart. Without it the answer is 428.
                  schema: {type: string}
              requestBody:
                required: true
                content: {application/trickle-ice-sdpfrag: {schema: {type: string}}}
              responses:
                "200":
                  description: ICE starts again; the fragment holds the gateway's new credentials and candidates.
                  headers: {ETag: {schema: {type: string}}}
                  content: {application/trickle-ice-sdpfrag: {schema: {type: string}}}
                "204": {description: The candidates were taken.}
                "412": {$ref: "#/components/responses/Failure"}
                "428": {$ref: "#/components/responses/Failure"}
                default: {$ref: "#/components/responses/Failure"}
            delete:
              summary: End the session
              operationId: endWHEP
              responses:
                "200": {description: It has ended.}
                default: {$ref: "#/components/responses/Failure"}
            options:
              summary: What the session takes
              operationId: describeWHEPSession
              responses:
                "204":
                  description: See the headers.
                  headers: {Accept-Patch: {schema: {type: string, const: application/trickle-ice-sdpfrag}}}
                default: {$ref: "#/components/responses/Failure"}

        """#
}
