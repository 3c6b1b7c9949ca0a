extension OpenAPIDocument {
    /// Sessions and events.
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
                change: device and deviceAdded (data Device), deviceRemoved (data DeviceRemoved), session (data
                SessionEvent), DoorbellPressed (data DoorbellPressed), and Motion, Person, Face, Vehicle, Animal,
                Package and Sound (data Detection). A comment comes every 15 seconds. With Last-Event-ID, presses and
                detections missed since then are sent again. The event missed (data MissedEvent) says that some are
                lost: as the last event of a stream that was read too slowly, or after the state where not all since
                Last-Event-ID are kept.
              parameters: [{name: Last-Event-ID, in: header, schema: {type: string}}]
              responses:
                "200": {description: The stream., content: {text/event-stream: {schema: {type: string}}}}
                default: {$ref: "#/components/responses/Failure"}

        """#
}
