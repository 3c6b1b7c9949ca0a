import Gateway
import Migration
import Testing
import Transport

/// Reads a config, and has Gatehouse read what comes out.
func imported(
    _ text: String, from gateway: ConfigurationImport.Gateway? = nil, environment: [String: String] = [:]
) throws -> (imported: ImportedConfiguration, configuration: GatewayConfiguration) {
    let imported = try ConfigurationImport.read(Array(text.utf8), from: gateway)
    return (imported, try GatewayConfiguration(yaml: imported.yaml(from: "old.yaml"), environment: environment))
}

/// The keys at which something is different.
func remarkedKeys(_ imported: ImportedConfiguration) -> [String] { imported.remarks.map(\.key) }

@Suite struct ConfigurationImportTests {
    @Test func theGatewayIsToldByItsKeys() throws {
        #expect(try imported("streams: {a: 'rtsp://192.0.2.1/1'}").imported.cameras.map(\.id) == ["a"])
        #expect(try imported("paths: {b: {source: 'rtsp://192.0.2.1/1'}}").imported.cameras.map(\.id) == ["b"])
        let frigate = """
            go2rtc: {streams: {c: 'rtsp://192.0.2.1/1'}}
            cameras: {c: {ffmpeg: {inputs: [{path: 'rtsp://192.0.2.2/1', roles: [detect]}]}}}
            """
        #expect(try imported(frigate).imported.cameras.map(\.source) == ["rtsp://192.0.2.2/1"])
        #expect(throws: ImportFailure.unknownGateway) { try imported("log: {level: debug}") }
        let empty = try imported("log: {level: debug}", from: .go2rtc)
        #expect(empty.imported.cameras.isEmpty && empty.imported.remarks.isEmpty)
        #expect(empty.configuration.cameras.isEmpty)
    }

    @Test func whatIsNoConfigIsRefused() {
        #expect(throws: ImportFailure.noKeys) { try imported("- rtsp://192.0.2.1/1") }
        #expect(throws: ImportFailure.noKeys) { try imported("just words") }
        #expect(throws: ImportFailure.unknownGateway) { try imported("") }
        #expect(throws: ImportFailure.notText) { try ConfigurationImport.read([0xFF, 0xFE]) }
        #expect(throws: ImportFailure.notText) {
            try ConfigurationImport.read(Array(repeating: 0x20, count: ConfigurationImport.maximumBytes + 1))
        }
        let failure = #expect(throws: ImportFailure.self) { try imported("streams:\n  a: [") }
        guard case .notYAML(line: 2..., _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func aKeyIsValidAndUsedOnce() throws {
        let text = """
            streams:
              "Vordertür/1": rtsp://192.0.2.1/1
              "Vordert r 1": rtsp://192.0.2.1/2
              "日本": rtsp://192.0.2.1/3
              "-": rtsp://192.0.2.1/4
              \(String(repeating: "x", count: 90)): rtsp://192.0.2.1/5
            """
        let (imported, configuration) = try imported(text)
        #expect(imported.cameras.map(\.id).prefix(4) == ["Vordert-r-1", "Vordert-r-1-2", "camera", "camera-2"])
        #expect(imported.cameras[0].name == "Vordertür 1")
        #expect(imported.cameras[2].name == "日本")
        #expect(configuration.cameras.map(\.id) == imported.cameras.map(\.id))
        #expect(imported.remarks.filter { $0.line > 0 }.count == 5)
    }

    @Test func aTextOfTheFileStaysAText() throws {
        let text = """
            streams:
              "on": 'rtsp://user:p\\"a${x@192.0.2.1/1#backchannel=0'
              "1e3": "rtsp://192.0.2.1/a:%20b"
            """
        let imported = try ConfigurationImport.read(Array(text.utf8))
        #expect(imported.cameras.map(\.id) == ["on", "1e3"])
        let quoted = #"source: "rtsp://user:p\\\"a$${x@192.0.2.1/1""#
        #expect(imported.yaml(from: "old\n- x").contains(quoted))
        // The name of the file cannot leave its comment either.
        #expect(imported.yaml(from: "old\n- x\u{202E}").hasPrefix("# Made from old - x  by"))
    }

    @Test func sharedKeysAreMerged() throws {
        let text = """
            x-common: &common {source: "rtsp://192.0.2.1/1", sourceOnDemand: yes}
            paths:
              a: {<<: *common, source: "rtsp://192.0.2.2/1"}
              b: {<<: [*common, {rtspTransport: udp}]}
            """
        let cameras = try imported(text).imported.cameras
        #expect(cameras.map(\.source) == ["rtsp://192.0.2.2/1", "rtsp://192.0.2.1/1"])
        #expect(cameras.allSatisfy { $0.isPulledOnDemand })
        #expect(cameras[1].transport == "udp")
    }

    @Test func aKeyOfItsOwnComesBeforeSharedOnesAndEarlierSharedOnesBeforeLater() throws {
        let text = """
            x-first: &first {source: "rtsp://192.0.2.1/1", rtspTransport: udp}
            x-second: &second {source: "rtsp://192.0.2.2/1", rtspTransport: tcp, sourceOnDemand: yes}
            paths:
              a: {<<: [*first, *second], source: "rtsp://192.0.2.3/1"}
              b: {source: "rtsp://192.0.2.4/1", <<: *second, rtspTransport: udp}
            """
        let cameras = try imported(text).imported.cameras
        #expect(cameras.map(\.source) == ["rtsp://192.0.2.3/1", "rtsp://192.0.2.4/1"])
        #expect(cameras.map(\.transport) == ["udp", "udp"])
        #expect(cameras.allSatisfy { $0.isPulledOnDemand })
    }

    @Test(arguments: [
        ("stun:stun.example", true), ("stun:192.0.2.1:3478", true), ("stun:stun.example:0", false),
        ("stun:stun.example:port", false), ("stun:", false), ("stun:a b", false), ("stuns:stun.example", false),
        ("turn:turn.example", false), ("stun:[2001:db8::1]:3478", false), ("stun:stün.example", false),
    ])
    func theGatewayAsksTheSTUNServersOfItsViewers(url: String, isAsked: Bool) throws {
        let text = "webrtc: {ice_servers: [{urls: ['\(url)', '\(url)']}]}\nstreams: {a: 'rtsp://192.0.2.1/1'}"
        let (imported, configuration) = try imported(text)
        #expect(imported.stunServers == (isAsked ? [url] : []))
        #expect(configuration.network.stunServers.count == imported.stunServers.count)
    }

    @Test(arguments: [(["stun:stun.example"], false), ([], true)])
    func aCandidateBySTUNNeedsAServer(servers: [String], isRemarked: Bool) throws {
        let text = """
            webrtc:
              candidates: ["stun:8555"]
              ice_servers: [{urls: [\(servers.map { "'\($0)'" }.joined())]}]
            streams: {a: 'rtsp://192.0.2.1/1'}
            """
        #expect(try imported(text).imported.remarks.contains { $0.key == "webrtc.candidates[0]" } == isRemarked)
    }

    /// Gatehouse would refuse the whole file for one of these.
    @Test(arguments: [
        ("streams: {a: 'rtsp:192.0.2.1/1', b: 'rtsp://192.0.2.2/1'}", ["b"]),
        ("streams: {a: 'rtsp:///1', b: 'rtsp://u:a b@192.0.2.2/1', c: 'rtsp://192.0.2.3/1'}", ["c"]),
        ("streams: {a: 'rtsp://192.0.2.1:99999/1', b: 'rtsp://192.0.2.2/1'}", ["b"]),
        ("paths: {a: {source: 'rtsp://:554/1'}, b: {source: 'rtsp://192.0.2.2/1'}}", ["b"]),
        ("webrtc: {candidates: ['fe:ed:8555', '::::', '+1.2.3.4:1']}\nstreams: {a: 'rtsp://192.0.2.1/1'}", ["a"]),
        (
            "webrtc: {ice_servers: [{urls: 'STUN:stun.example'}, {urls: 'turn:t', username: u, credential: 'p<w'}]}\n"
                + "streams: {a: 'rtsp://192.0.2.1/1'}", ["a"]
        ),
        (
            "mqtt: {host: 'mqtt://broker'}\ncameras: {a: {friendly_name: \"A\\n\\u202eB\", ffmpeg: {inputs: [{path: "
                + "'rtsp://192.0.2.1/1'}]}, onvif: {host: 'ftp://u@192.0.2.1'}}}", ["a"]
        ),
        ("mqtt: {host: broker, password: x}\ncameras: {a: {ffmpeg: {inputs: [{path: 'rtsp://a/1'}]}}}", ["a"]),
    ])
    func whatGatehouseWouldRefuseIsLeftOut(text: String, cameras: [String]) throws {
        let (imported, configuration) = try imported(text)
        #expect(configuration.cameras.map(\.id) == cameras)
        #expect(!imported.remarks.isEmpty)
    }

    @Test(arguments: ["ad!min:secret@192.0.2.1", "admin:secret@192.0.2.1", "admin"])
    func aRemarkRepeatsNoValue(source: String) throws {
        for text in ["paths: {a: {source: '\(source)'}}", "streams: {a: '\(source)'}"] {
            let remarks = try imported(text).imported.remarks
            #expect(!remarks.isEmpty && remarks.allSatisfy { !$0.text.contains("min") && !$0.text.contains("secret") })
        }
    }

    @Test func manyNamesWithoutALetterTakeNoTime() throws {
        let names = (0..<900).map { "\(UnicodeScalar(0x4E00 + $0) ?? "-"): rtsp://192.0.2.1/1" }
        let imported = try imported("streams:\n  " + names.joined(separator: "\n  ")).imported
        #expect(Set(imported.cameras.map(\.id)).count == 900)
    }

    /// Whatever the file is like, the result is YAML, and no password is in a remark.
    @Test(arguments: [go2rtcSample, mediaMTXSample, frigateSample])
    func damagedFilesLeadToAConfigOrARefusal(sample: String) {
        var random = RandomSource.seeded(14)
        let pieces = [
            ":", "\n", "  ", "- ", "{", "}", "[", "\"", "${", "#", "<<: ", "&a ", "*a", "null", "\u{202E}", "rtsp://",
        ]
        for _ in 0..<400 {
            var bytes = Array(sample.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(contentsOf: Array(pieces.randomElement(using: &random)!.utf8), at: place)
                default: bytes[place] = UInt8.random(in: 0...255, using: &random)
                }
            }
            guard let imported = try? ConfigurationImport.read(bytes) else { continue }
            do {
                _ = try GatewayConfiguration(yaml: imported.yaml(from: "old"), environment: ["DOOR_PASSWORD": "x"])
            } catch {
                #expect(!error.problems.contains { $0.reason.contains("YAML") || $0.reason.contains("unknown key") })
            }
        }
    }
}
