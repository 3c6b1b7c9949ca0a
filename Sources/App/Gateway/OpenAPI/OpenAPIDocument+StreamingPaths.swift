extension OpenAPIDocument {
    /// Watching by WHEP and publishing by WHIP: the two are the same but for the direction and for how a server answers
    /// OPTIONS.
    static let streamingPaths =
        Self.paths(of: "WHEP", summary: "Start a live view by WHEP", optionsStatus: 204)
        + Self.paths(of: "WHIP", summary: "Publish to a camera by WHIP (RFC 9725)", optionsStatus: 200)

    private static func paths(of name: String, summary: String, optionsStatus: Int) -> String {
        #"""
          /\#(name.lowercased())/{device}:
            parameters: [{$ref: "#/components/parameters/device"}]
            post:
              summary: \#(summary)
              operationId: start\#(name)
              requestBody:
                required: true
                content: {application/sdp: {schema: {type: string}}}
              responses:
                "201":
                  description: The SDP answer.
                  headers:
                    Location: {description: The session's path., schema: {type: string}}
                    ETag: {description: The ICE generation., schema: {type: string}}
                    Link: {description: STUN and TURN servers., schema: {type: string}}
                    Accept-Patch: {schema: {type: string, const: application/trickle-ice-sdpfrag}}
                  content: {application/sdp: {schema: {type: string}}}
                "406": {$ref: "#/components/responses/Failure"}
                "409": {$ref: "#/components/responses/Failure"}
                default: {$ref: "#/components/responses/Failure"}
            options:
              summary: What the endpoint takes
              operationId: describe\#(name)
              responses:
                "\#(optionsStatus)":
                  description: See the headers.
                  headers:
                    Accept-Post: {schema: {type: string, const: application/sdp}}
                    Link: {description: STUN and TURN servers., schema: {type: string}}
                default: {$ref: "#/components/responses/Failure"}
          /\#(name.lowercased())/{device}/{session}:
            parameters: [{$ref: "#/components/parameters/device"}, {$ref: "#/components/parameters/session"}]
            patch:
              summary: Add candidates or restart ICE
              description: The session's address is the permission; a token that is sent must be its owner's.
              security: [{bearer: []}, {}]
              operationId: patch\#(name)
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
              description: The session's address is the permission; a token that is sent must be its owner's.
              security: [{bearer: []}, {}]
              operationId: end\#(name)
              responses:
                "200": {description: It has ended.}
                default: {$ref: "#/components/responses/Failure"}
            options:
              summary: What the session takes
              operationId: describe\#(name)Session
              responses:
                "\#(optionsStatus)":
                  description: See the headers.
                  headers: {Accept-Patch: {schema: {type: string, const: application/trickle-ice-sdpfrag}}}
                default: {$ref: "#/components/responses/Failure"}

        """#
    }
}
