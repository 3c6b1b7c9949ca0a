extension RTMPServerSession {
    /// What says how something went (section 7.2.2).
    static func fields(_ code: String, isError: Bool, saying words: String) -> [AMF0Value.Field] {
        [
            .init(name: "level", value: .string(isError ? "error" : "status")),
            .init(name: "code", value: .string(code)), .init(name: "description", value: .string(words)),
        ]
    }

    static func information(_ code: String, isError: Bool, saying words: String) -> AMF0Value {
        .object(fields(code, isError: isError, saying: words))
    }

    /// Answers a command. Those without a transaction want no answer.
    mutating func result(_ transaction: Double, _ value: AMF0Value) {
        guard transaction != 0 else { return }
        writer.command([.string("_result"), .number(transaction), .null, value], stream: 0)
    }

    /// Answers a command that is not known.
    mutating func error(_ transaction: Double) {
        let information = Self.information("NetConnection.Call.Failed", isError: true, saying: "unknown command")
        writer.command([.string("_error"), .number(transaction), .null, information], stream: 0)
    }

    /// Says how a stream goes.
    mutating func status(_ code: String, isError: Bool, saying words: String, on stream: UInt32) {
        writer.command(
            [.string("onStatus"), .number(0), .null, Self.information(code, isError: isError, saying: words)],
            stream: stream)
    }

    /// The client may publish: the stream begins (section 7.1.7), and the command has succeeded.
    mutating func answerPublish() {
        writer.send(type: 4, stream: 0, [0, 0] + RTMPMessageWriter.bytes(of: publishedStream))
        status(
            "NetStream.Publish.Start", isError: false, saying: "the camera takes the stream", on: publishedStream)
    }
}
