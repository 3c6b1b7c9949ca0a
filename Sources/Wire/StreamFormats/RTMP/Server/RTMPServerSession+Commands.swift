extension RTMPServerSession {
    /// Takes a command (Adobe RTMP Specification 1.0, section 7.2).
    mutating func take(_ values: [AMF0Value], on stream: UInt32) throws(RTMPServerError) {
        guard case .string(let name)? = values.first else { throw .unreadableCommand }
        var transaction = 0.0
        if values.count > 1, case .number(let number) = values[1] { transaction = number }
        switch name {
        case "connect":
            try requireStage(.connecting, for: name)
            connect(values.count > 2 ? values[2] : .null, transaction)
        case "createStream":
            try requireStage(.idle, for: name)
            // One stream is enough for a connection. Its number is always the same.
            result(transaction, .number(Double(Self.streamNumber)))
        case "releaseStream": result(transaction, .null)
        case "FCPublish":
            result(transaction, .null)
            let information = Self.information("NetStream.Publish.Start", isError: false, saying: "")
            writer.command([.string("onFCPublish"), .number(0), .null, information], stream: 0)
        case "publish":
            try requireStage(.idle, for: name)
            var asked = ""
            if values.count > 3, case .string(let text) = values[3] { asked = text }
            publishedStream = stream
            ask(to: RTMPPublishRequest(application: application, stream: asked, program: program))
        case "FCUnpublish", "deleteStream", "closeStream":
            let number = publishedStream
            if stopPublishing() {
                status(
                    "NetStream.Unpublish.Success", isError: false, saying: "the publisher has stopped", on: number)
            }
            if name == "FCUnpublish" { result(transaction, .null) }
        case "play", "play2":
            status("NetStream.Play.Failed", isError: true, saying: Self.playsNothing, on: stream)
            recordAskedToPlay()
        // Answers to what the server has said, and commands that change nothing here.
        case "_result", "_error", "onStatus", "FCSubscribe", "receiveAudio", "receiveVideo", "pause", "seek": break
        default: if transaction != 0 { error(transaction) }
        }
    }

    private static let streamNumber: UInt32 = 1
    private static let playsNothing =
        "this gateway takes streams by RTMP and plays none; it serves its cameras by RTSP, HLS and WHEP"

    private mutating func connect(_ command: AMF0Value, _ transaction: Double) {
        application = command.text(of: "app") ?? ""
        program = command.text(of: "flashVer") ?? ""
        recordConnected()
        writer.control(5, Self.usualWindow)
        // The client may adapt its own window to what the server says later: 2 is dynamic.
        writer.send(type: 6, stream: 0, RTMPMessageWriter.bytes(of: Self.usualWindow) + [2])
        var information = Self.fields(
            "NetConnection.Connect.Success", isError: false, saying: "the gateway takes streams")
        information.append(.init(name: "objectEncoding", value: .number(0)))
        // Enhanced RTMP: the codecs beyond those of FLV, for clients that state theirs.
        if command.has("fourCcList") {
            information.append(.init(name: "fourCcList", value: .list([.string("avc1"), .string("hvc1")])))
        }
        let properties: [AMF0Value.Field] = [
            .init(name: "fmsVer", value: .string("FMS/3,0,1,123")), .init(name: "capabilities", value: .number(31)),
        ]
        writer.command(
            [.string("_result"), .number(transaction), .object(properties), .object(information)], stream: 0)
    }
}

extension AMF0Value {
    /// Whether it is an object that has a field.
    fileprivate func has(_ name: String) -> Bool {
        guard case .object(let fields) = self else { return false }
        return fields.contains { $0.name == name }
    }
}
