import Foundation
import HomeFakes
import HomeTypes
import PushAvStreamTransport
import Testing

@testable import HomeHub

/// Every field of every struct of `PushAvStreamTransport`: missing, null, of another type, and out of its range. The refusal
/// has Matter's status, and nothing changes.
@Suite struct TransportFieldTests {
    /// What becomes of a command: nil if it is accepted.
    typealias Refusal = HomeError.MatterError?

    private static let invalidCommand = HomeError.MatterError(code: 0x85)
    private static let constraintError = HomeError.MatterError(code: 0x87)
    private static let invalidDataType = HomeError.MatterError(code: 0x8D)

    private static func cluster(_ status: Int) -> HomeError.MatterError { .init(code: 1, clusterCode: status) }

    /// What may be wrong with a value of a type, as JSON.
    private enum Kind {
        case number(UInt64), name, text, octets, flag, record, list

        var wrong: [(json: String, refusal: HomeError.MatterError)] {
            let types: [String]
            var values: [String] = []
            switch self {
            case .number(let limit):
                types = [#""1""#, "true", "[]", "{}"]
                values = ["-1", "\(limit + 1)", "0.5", "1e99"]
            case .name:
                types = ["true", "[]", "{}"]
                values = [#""""#, #""other""#, "99", "-1", "0.5"]
            case .text: types = ["1", "true", "[]", "{}"]
            case .octets:
                types = ["1", "true", "{}"]
                values = [#""%""#]
            case .flag: types = ["1", #""true""#, "[]", "{}"]
            case .record: types = ["1", "true", #""x""#, "[]"]
            case .list: types = ["1", "true", #""x""#, "{}"]
            }
            return types.map { ($0, invalidDataType) } + values.map { ($0, constraintError) }
        }
    }

    /// A field of the options.
    private struct Field {
        var path: String
        var kind: Kind
        /// What becomes of options without it, and with null.
        var missing: Refusal = invalidCommand
        var null: Refusal = invalidCommand
        /// Values of the right type.
        var values: [(json: String, refusal: Refusal)] = []

        init(
            _ path: String, _ kind: Kind, missing: Refusal = invalidCommand, null: Refusal = invalidCommand,
            _ values: (json: String, refusal: Refusal)...
        ) {
            (self.path, self.kind, self.missing, self.null, self.values) = (path, kind, missing, null, values)
        }
    }

    private static let options = #"""
        {"streamUsage":"recording","videoStreamID":1,"audioStreamID":1,"tlsEndpointID":0,"url":"https://a.example/",
        "triggerOptions":{"triggerType":"motion","motionZones":[{"zone":null}],"motionSensitivity":5,
        "motionTimeControl":{"initialDuration":10,"augmentationDuration":5,"maxDuration":30,"blindDuration":0},
        "maxPreRollLen":4000},"ingestMethod":"cmafIngest","containerOptions":{"containerType":"cmaf",
        "cmafContainerOptions":{"cmafInterface":"interface1","segmentDuration":4000,"chunkDuration":1000,
        "sessionGroup":1,"trackName":"media"}},"expiryTime":3600}
        """#

    private static let fields: [Field] = {
        let time = "triggerOptions.motionTimeControl", cmaf = "containerOptions.cmafContainerOptions"
        let key = #""AAAAAAAAAAAAAAAAAAAAAA==""#
        func quoted(_ count: Int) -> String { "\"" + String(repeating: "a", count: count) + "\"" }
        func address(_ count: Int) -> String {
            "\"https://a.example/" + String(repeating: "a", count: count - 19) + "/\""
        }
        return [
            Field("streamUsage", .name, (#""internal""#, cluster(10)), ("1", nil)),
            Field("videoStreamID", .number(65_535), missing: nil, null: nil, ("9", cluster(3)), ("65535", cluster(3))),
            Field("audioStreamID", .number(65_535), missing: nil, null: nil, ("0", cluster(3)), ("2", cluster(3))),
            Field("tlsEndpointID", .number(65_534), ("9", cluster(2)), ("65534", cluster(2))),
            Field(
                "url", .text, (#""https://a.b/""#, constraintError), (address(2_001), constraintError),
                (address(2_000), nil), (#""ftp://a.example/""#, cluster(4)),
                (#""https://a.example/\u0000/""#, cluster(4))),
            Field("triggerOptions", .record, ("{}", invalidCommand)),
            Field(
                "triggerOptions.triggerType", .name, (#""command""#, invalidCommand), (#""continuous""#, invalidCommand)
            ),
            Field(
                "triggerOptions.motionZones", .list, missing: invalidCommand, null: nil, ("[]", nil),
                ("[{}]", invalidCommand),
                ("[null]", invalidCommand), ("[1]", invalidDataType), (#"[{"zone":-1}]"#, constraintError),
                (#"[{"zone":65536}]"#, constraintError), (#"[{"zone":"1"}]"#, invalidDataType),
                (#"[{"zone":7}]"#, cluster(5)), (#"[{"zone":null,"sensitivity":5}]"#, invalidCommand),
                (#"[{"zone":null,"sensitivity":0}]"#, constraintError),
                (#"[{"zone":null,"sensitivity":11}]"#, constraintError),
                (#"[{"zone":null,"sensitivity":null}]"#, nil),
                (#"[{"zone":null},{"zone":null}]"#, HomeError.MatterError(code: 0xD0))),
            Field(
                "triggerOptions.motionSensitivity", .number(255), null: nil, ("0", constraintError),
                ("1", nil), ("10", nil), ("11", constraintError), ("255", constraintError)),
            Field(time, .record, ("{}", invalidCommand)),
            Field("\(time).initialDuration", .number(65_535), ("0", constraintError), ("65535", nil)),
            Field("\(time).augmentationDuration", .number(65_535), ("0", nil), ("65535", nil)),
            Field("\(time).maxDuration", .number(4_294_967_295), ("0", constraintError), ("4294967295", nil)),
            Field("\(time).blindDuration", .number(65_535), ("0", nil), ("65535", nil)),
            Field("triggerOptions.maxPreRollLen", .number(65_535), ("0", nil), ("65535", nil)),
            Field("ingestMethod", .name),
            Field("containerOptions", .record, ("{}", invalidCommand)),
            Field("containerOptions.containerType", .name),
            Field(cmaf, .record, ("{}", invalidCommand)),
            Field("\(cmaf).cmafInterface", .name, (#""interface2DASH""#, nil), ("2", nil)),
            Field(
                "\(cmaf).segmentDuration", .number(65_535), ("499", constraintError), ("65501", constraintError),
                ("65500", nil), ("2000", nil), ("1999", constraintError)),
            Field("\(cmaf).chunkDuration", .number(65_535), ("0", nil), ("2000", nil), ("2001", constraintError)),
            Field("\(cmaf).sessionGroup", .number(255), missing: nil, null: nil, ("0", nil), ("255", nil)),
            Field(
                "\(cmaf).trackName", .text, missing: nil, null: nil, (quoted(16), nil), (quoted(17), constraintError),
                (#""""#, constraintError),
                // It never becomes a path: streams that ids name are called video and audio.
                (#""../../etc""#, nil)),
            Field(
                "\(cmaf).cencKey", .octets, missing: nil, null: nil, (key, invalidCommand),
                (#""AAAA""#, constraintError)),
            Field(
                "\(cmaf).cencKeyID", .octets, missing: nil, null: nil, (key, invalidCommand), (#""""#, constraintError)),
            Field(
                "\(cmaf).metadataEnabled", .flag, missing: nil, null: nil, ("true", invalidCommand),
                ("false", invalidCommand)),
            Field("expiryTime", .number(4_294_967_295), missing: nil, null: nil, ("4294967295", nil)),
            Field("videoStreams", .list, missing: nil, null: nil, ("[]", invalidCommand), ("[{}]", invalidCommand)),
            Field("audioStreams", .list, missing: nil, null: nil, ("[]", invalidCommand), ("[{}]", invalidCommand)),
        ]
    }()

    /// A home whose camera has described itself.
    private func home() async throws -> (TransportTests, HomeHub) {
        let tests = TransportTests()
        let hub = try await tests.hub()
        tests.camera.send(FakeCamera.flowing)
        tests.camera.finish()
        await hub.run()
        return (tests, hub)
    }

    private static func object(_ json: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
    }

    /// Options in which one field is another one; nil to leave it out.
    private static func options(_ path: String, _ json: String?) throws -> String {
        func set(_ value: Any?, _ path: ArraySlice<Substring>, in object: Any) -> Any {
            guard let name = path.first, var object = object as? [String: Any] else { return value ?? object }
            let rest = path.dropFirst()
            object[String(name)] = rest.isEmpty ? value : set(value, rest, in: object[String(name)] ?? [:])
            return object
        }
        // A marker, because a number such as 1e99 would not survive being read and written.
        let marker = "marker"
        let changed = set(json == nil ? nil : marker, path.split(separator: ".")[...], in: try object(options))
        let text = String(
            decoding: try JSONSerialization.data(withJSONObject: changed, options: .withoutEscapingSlashes),
            as: UTF8.self)
        return text.replacingOccurrences(of: "\"\(marker)\"", with: json ?? "")
    }

    /// Sends a command, and expects this refusal of it, or its success.
    private func expect(
        _ expected: Refusal, _ command: String, _ body: String, _ what: String, in home: (TransportTests, HomeHub)
    ) async {
        do {
            try await home.0.send(command, body, to: home.1)
            #expect(expected == nil, "accepted: \(what)")
        } catch let error as HomeError {
            #expect(error.subtype == expected.map { .matter($0) }, "\(what): \(error.message)")
            #expect(!error.message.isEmpty)
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    private func connections(_ home: (TransportTests, HomeHub)) async throws -> String {
        try await home.0.send("findTransport", "{}", to: home.1)
    }

    @Test func everyFieldOfNewOptionsIsChecked() async throws {
        let home = try await home()
        let before = try await connections(home)
        for field in Self.fields {
            var values: [(json: String?, refusal: Refusal)] = [(nil, field.missing), ("null", field.null)]
            values += field.kind.wrong.map { ($0.json, $0.refusal) }
            values += field.values.map { ($0.json, $0.refusal) }
            for (json, refusal) in values {
                let body = #"{"transportOptions":\#(try Self.options(field.path, json))}"#
                await expect(
                    refusal, "allocatePushTransport", body, "\(field.path) \((json ?? "missing").prefix(60))", in: home)
                if refusal == nil {
                    let made = try #require(home.1.transports?.service.table(of: "door")?.connections.last?.id)
                    try await home.0.send("deallocatePushTransport", #"{"connectionID":\#(made)}"#, to: home.1)
                }
                #expect(try await connections(home) == before, "\(field.path) \(json ?? "missing")")
            }
        }
    }

    @Test func everyFieldOfChangedOptionsIsChecked() async throws {
        let home = try await home()
        try await home.0.send("allocatePushTransport", #"{"transportOptions":\#(Self.options)}"#, to: home.1)
        let before = try await connections(home)
        for field in Self.fields {
            for (json, refusal) in field.kind.wrong {
                let partial = field.path.split(separator: ".").reversed().reduce(json) { #"{"\#($1)":\#($0)}"# }
                await expect(
                    refusal, "modifyPushTransport", #"{"connectionID":2,"transportOptions":\#(partial)}"#, partial,
                    in: home)
            }
            // What is left out or null stays as it is, except where null is a value.
            if !field.path.hasSuffix("motionZones"), !field.path.hasSuffix("motionSensitivity") {
                let null = field.path.split(separator: ".").reversed().reduce("null") { #"{"\#($1)":\#($0)}"# }
                await expect(
                    nil, "modifyPushTransport", #"{"connectionID":2,"transportOptions":\#(null)}"#, null, in: home)
            }
            #expect(try await connections(home) == before, "\(field.path)")
        }
    }

    @Test func everyFieldOfTheNamedStreamsIsChecked() async throws {
        let home = try await home()
        let before = try await connections(home)
        func lists(_ video: String, _ audio: String) throws -> String {
            let ids = #""videoStreamID":1,"audioStreamID":1"#
            return Self.options.replacingOccurrences(
                of: ids, with: #""videoStreams":\#(video),"audioStreams":\#(audio)"#)
        }
        let good = #"{"audioStreamName":"sound","audioStreamID":1}"#
        let name = #""videoStreamName":"main""#
        for (video, refusal) in [
            (#"[{"videoStreamID":1}]"#, Self.invalidCommand), ("[{\(name)}]", Self.invalidCommand),
            (#"[{"videoStreamName":null,"videoStreamID":1}]"#, Self.invalidCommand),
            ("[{\(name),\"videoStreamID\":null}]", Self.invalidCommand),
            (#"[{"videoStreamName":1,"videoStreamID":1}]"#, Self.invalidDataType),
            ("[{\(name),\"videoStreamID\":\"1\"}]", Self.invalidDataType),
            ("[{\(name),\"videoStreamID\":65536}]", Self.constraintError),
            ("[{\(name),\"videoStreamID\":-1}]", Self.constraintError),
            ("[{\(name),\"videoStreamID\":2}]", Self.cluster(3)),
            (#"[{"videoStreamName":"","videoStreamID":1}]"#, Self.constraintError),
            (#"[{"videoStreamName":"seventeen letters","videoStreamID":1}]"#, Self.constraintError),
            (#"[{"videoStreamName":"..","videoStreamID":1}]"#, Self.constraintError),
            (#"[{"videoStreamName":"a\u0000b","videoStreamID":1}]"#, Self.constraintError),
            (#"[{"videoStreamName":"sound","videoStreamID":1}]"#, Self.cluster(3)),
            ("[{\(name),\"videoStreamID\":1},{\(name),\"videoStreamID\":2}]", Self.cluster(13)),
            (
                "[\(Array(repeating: "{\(name),\"videoStreamID\":1}", count: 17).joined(separator: ","))]",
                Self.constraintError
            ),
        ] {
            let body = #"{"transportOptions":\#(try lists(video, "[\(good)]"))}"#
            await expect(refusal, "allocatePushTransport", body, String(video.prefix(80)), in: home)
        }
        for (audio, refusal) in [
            (#"[{"audioStreamID":1}]"#, Self.invalidCommand), (#"[{"audioStreamName":"a"}]"#, Self.invalidCommand),
            (#"[{"audioStreamName":"a","audioStreamID":65536}]"#, Self.constraintError),
            (#"[{"audioStreamName":"a","audioStreamID":9}]"#, Self.cluster(3)),
            (#"[{"audioStreamName":"a/b","audioStreamID":1}]"#, Self.constraintError),
            ("[\(good),\(good)]", Self.cluster(13)),
        ] {
            let body = #"{"transportOptions":\#(try lists("[]", audio))}"#
            await expect(refusal, "allocatePushTransport", body, audio, in: home)
        }
        await expect(
            Self.cluster(3), "allocatePushTransport", #"{"transportOptions":\#(try lists("[]", "[]"))}"#, "[]", in: home
        )
        #expect(try await connections(home) == before)
    }

    @Test func everyParameterOfTheOtherCommandsIsChecked() async throws {
        let home = try await home()
        try await home.0.send("allocatePushTransport", #"{"transportOptions":\#(Self.options)}"#, to: home.1)
        try await home.0.send("setTransportStatus", #"{"transportStatus":"active"}"#, to: home.1)
        let before = try await connections(home)
        let rest = [
            "deallocatePushTransport": "", "modifyPushTransport": #","transportOptions":{}"#,
            "manuallyTriggerTransport": #","activationReason":"userInitiated""#, "updateMotionZoneOptions": "",
            "setTransportStatus": #","transportStatus":"inactive""#, "findTransport": "",
        ]
        for (command, rest) in rest {
            for (json, refusal) in Kind.number(65_535).wrong {
                await expect(refusal, command, #"{"connectionID":\#(json)\#(rest)}"#, "\(command) \(json)", in: home)
            }
            guard command != "setTransportStatus", command != "findTransport" else { continue }
            await expect(Self.invalidCommand, command, #"{"connectionID":null\#(rest)}"#, "\(command) null", in: home)
            await expect(Self.invalidCommand, command, "{\(rest.dropFirst())}", "\(command) missing", in: home)
            await expect(Self.constraintError, command, #"{"connectionID":65535\#(rest)}"#, command, in: home)
        }
        func trigger(_ fields: String) -> String { #"{"connectionID":2,\#(fields)}"# }
        let reason = #""activationReason":"emergency""#
        for (json, refusal) in Kind.name.wrong + [("null", Self.invalidCommand)] {
            await expect(
                refusal, "manuallyTriggerTransport", trigger(#""activationReason":\#(json)"#), json, in: home)
            await expect(refusal, "setTransportStatus", #"{"transportStatus":\#(json)}"#, json, in: home)
        }
        let time = ["initialDuration": 5, "augmentationDuration": 5, "maxDuration": 5, "blindDuration": 0]
        for name in time.keys.sorted() {
            var less = time
            less[name] = nil
            let others = less.map { #""\#($0)":\#($1)"# }.joined(separator: ",")
            await expect(
                Self.invalidCommand, "manuallyTriggerTransport", trigger("\(reason),\"timeControl\":{\(others)}"), name,
                in: home)
            for (json, refusal) in Kind.number(name == "maxDuration" ? 4_294_967_295 : 65_535).wrong {
                let all = "{\(others),\"\(name)\":\(json)}"
                await expect(
                    refusal, "manuallyTriggerTransport", trigger("\(reason),\"timeControl\":\(all)"), all, in: home)
            }
        }
        let long = Data(count: 257).base64EncodedString()
        for (json, refusal) in Kind.octets.wrong + [("\"\(long)\"", Self.constraintError)] {
            await expect(
                refusal, "manuallyTriggerTransport", trigger("\(reason),\"userDefined\":\(json)"), json, in: home)
        }
        for (fields, refusal) in [
            (#""motionZones":{}"#, Self.invalidDataType), (#""motionZones":[{"zone":7}]"#, Self.cluster(5)),
            (#""motionZones":[{"zone":null,"sensitivity":3}]"#, Self.invalidCommand),
            (#""motionSensitivity":0"#, Self.constraintError), (#""motionSensitivity":11"#, Self.constraintError),
            (#""motionSensitivity":256"#, Self.constraintError), (#""motionSensitivity":"5""#, Self.invalidDataType),
        ] { await expect(refusal, "updateMotionZoneOptions", trigger(fields), fields, in: home) }
        #expect(try await connections(home) == before)
    }

    @Test func aNumberThatDoesNotFitIsNotCalledInvalidJSON() async throws {
        let home = try await home()
        for (body, status, words) in [
            (#"{"connectionID":65536}"#, Self.constraintError, "a number in the body does not fit its field"),
            (#"{"connectionID":-1}"#, Self.constraintError, "a number in the body does not fit its field"),
            (#"{"connectionID":1"#, Self.invalidCommand, "the body is not valid JSON"),
            ("", Self.invalidCommand, ""),
            (String(repeating: "[", count: 5_000), Self.invalidCommand, "the body is not"),
        ] {
            let refusal = await #expect(throws: HomeError.self, "\(body.prefix(30))") {
                try await home.0.send("deallocatePushTransport", body, to: home.1)
            }
            #expect(refusal?.message.hasPrefix(words) == true, "\(refusal?.message ?? "")")
            #expect(refusal?.subtype == .matter(status), "\(body.prefix(30))")
        }
    }

    @Test func aConnectionOfAnotherPrincipalIsNotFoundByAnyCommand() async throws {
        let home = try await home()
        try await home.0.send("allocatePushTransport", #"{"transportOptions":\#(Self.options)}"#, to: home.1)
        let before = try await connections(home)
        for (command, rest) in [
            ("deallocatePushTransport", ""), ("modifyPushTransport", #","transportOptions":{"expiryTime":1}"#),
            ("setTransportStatus", #","transportStatus":"active""#), ("findTransport", ""),
            ("manuallyTriggerTransport", #","activationReason":"emergency""#),
            ("updateMotionZoneOptions", #","motionZones":[]"#),
        ] {
            let refusal = await #expect(throws: HomeError.self, "\(command)") {
                try await home.0.send(command, #"{"connectionID":2\#(rest)}"#, to: home.1, as: "tablet")
            }
            #expect(refusal?.subtype == .matter(.init(code: 0x8B)), "\(command)")
            #expect(refusal?.code == .notFound)
        }
        #expect(try await connections(home) == before)
    }
}
