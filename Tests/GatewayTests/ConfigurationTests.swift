import Foundation
import Glibc
import HomeTypes
import MediaRelay
import STUN
import Testing

@testable import Gateway

@Suite struct ConfigurationTests {
    func problems(_ yaml: String, environment: [String: String] = [:]) -> [ConfigurationError.Problem] {
        do {
            _ = try GatewayConfiguration(yaml: yaml, environment: environment)
            return []
        } catch {
            return error.problems
        }
    }

    @Test func anEmptyFileMeansTheDefaults() throws {
        #expect(try GatewayConfiguration(yaml: "") == GatewayConfiguration())
        #expect(GatewayConfiguration().http.host == "127.0.0.1")
    }

    @Test func everyKeyIsRead() throws {
        let configuration = try GatewayConfiguration(
            yaml: """
                http:
                  host: 0.0.0.0
                  port: 80
                  https: {port: 443, certificate: cert.pem, privateKey: /etc/key.pem}
                  origins: ["https://Home.Example:443", "http://localhost:3000"]
                media:
                  port: 9000
                  shards: 3
                  addresses: [203.0.113.7, "2001:db8::7"]
                  iceServers: [{url: "turn:turn.example:3478", username: u, credential: p}]
                network:
                  stun: [stun.example.org, "stun:[2001:db8::5]:5000"]
                  turn:
                    - {url: "turn:turn.example", username: gate, credential: "${PASSWORD}"}
                    - {url: "turn:turn.example?transport=tcp", username: gate, credential: p}
                    - {url: "turns:turn.example:443", username: gate, credential: p, ca: turn-ca.pem}
                stateDirectory: state
                sessions: {durationSeconds: 60, maximumDurationSeconds: 120, perCamera: 2, perPrincipal: 3}
                log: {level: debug, format: json, showAddresses: true}
                cameras:
                  - {id: a, source: "builtin:doorbell"}
                  - {id: b, name: Yard, type: camera, source: "rtsp://u:${PASSWORD}@192.0.2.1/s"}
                  - {id: c, source: "builtin:silent"}
                """, directory: "/etc/gatehouse", environment: ["PASSWORD": "p%40ss"])
        #expect(configuration.http.host == "0.0.0.0")
        #expect(configuration.http.https?.port == 443)
        #expect(
            configuration.http.https?.files
                == .init(certificate: "/etc/gatehouse/cert.pem", privateKey: "/etc/key.pem"))
        #expect(configuration.http.origins == ["https://home.example", "http://localhost:3000"])
        #expect(configuration.media.addresses == ["203.0.113.7", "2001:db8::7"])
        #expect(configuration.media.iceServers.first?.credential == "p")
        #expect(configuration.media.shards == 3)
        #expect(configuration.network.stunServers.map(\.host) == ["stun.example.org", "2001:db8::5"])
        #expect(configuration.network.stunServers.map(\.port) == [3478, 5000])
        #expect(configuration.network.turnServers.map(\.password) == ["p%40ss", "p", "p"])
        #expect(
            configuration.network.turnServers.map(\.transport) == [
                .udp, .tcp, .tls(name: "turn.example", authorities: "/etc/gatehouse/turn-ca.pem"),
            ])
        #expect(configuration.stateDirectory == "/etc/gatehouse/state")
        #expect(configuration.sessions.perPrincipal == 3)
        #expect(
            configuration.log
                == {
                    var log = GatewayConfiguration.Log(); log.level = "debug"; log.format = .json;
                    log.showsAddresses = true; return log
                }())
        #expect(configuration.cameras[0].kind == .doorbell)
        #expect(configuration.cameras[0].name == "a")
        #expect(configuration.cameras[1].source == .rtsp("rtsp://u:p%40ss@192.0.2.1/s"))
        #expect(configuration.cameras[2].source == .builtInSilent && configuration.cameras[2].kind == .camera)
    }

    @Test(arguments: [
        ("source: rtsp://192.0.2.1/", false, false), ("source: rtsp://192.0.2.1/, pull: on-demand", true, true),
        ("source: rtsp://192.0.2.1/, pull: on-demand, battery: false", true, false),
        ("source: rtsp://192.0.2.1/, battery: true", true, true),
        ("source: rtsp://192.0.2.1/, battery: true, pull: always", false, true),
        ("source: http://192.0.2.1/", true, false), ("source: http://192.0.2.1/, pull: on-demand", true, false),
        ("source: http://192.0.2.1/, battery: true", true, true),
        ("source: http://192.0.2.1/, pull: always", false, false),
    ])
    func `a camera on demand runs on a battery unless it rests to save processor time`(
        keys: String, isOnDemand: Bool, isOnBattery: Bool
    ) throws {
        let camera = try #require(GatewayConfiguration(yaml: "cameras: [{id: a, \(keys)}]").cameras.first)
        #expect(camera.pull == (isOnDemand ? .onDemand : .always))
        #expect(camera.isOnBattery == isOnBattery)
    }

    @Test func `a published camera has no battery`() {
        #expect(throws: ConfigurationError.self) {
            try GatewayConfiguration(yaml: "cameras: [{id: a, source: whip, battery: true}]")
        }
    }

    @Test func everyKeyOfACameraIsRead() throws {
        let configuration = try GatewayConfiguration(
            yaml: """
                rtsp: {port: 554}
                cameras:
                  - id: yard
                    source: "rtsps://u:${PASSWORD}@192.0.2.1/main"
                    substream: "rtsp://u:${PASSWORD}@192.0.2.1/sub?cost=$${x}"
                    transport: udp
                    keepAlive: set-parameter
                    pull: on-demand
                    talkback: off
                    transcodeVideo: true
                    onvif: {url: "http://192.0.2.1/onvif/device_service", username: u, password: "${PASSWORD}"}
                    webhook: true
                  - {id: porch, source: "onvif://u:p@192.0.2.2:8000"}
                  - {id: phone, source: whip}
                  - {id: printer, source: "http://u:${PASSWORD}@192.0.2.3:81/stream", framesPerSecond: 0.5}
                  - {id: gauge, source: "https://192.0.2.4/", pull: always}
                """, environment: ["PASSWORD": "p%40ss"])
        // Its pictures have to be encoded, so it is not pulled without need.
        let pictures = configuration.cameras.suffix(2)
        #expect(pictures.first?.source == .pictures("http://u:p%40ss@192.0.2.3:81/stream"))
        #expect(pictures.map(\.pull) == [.onDemand, .always])
        #expect(pictures.map(\.framesPerSecond) == [0.5, nil])
        #expect(pictures.first?.secrets.contains("p@ss") == true)
        let streams = try GatewayConfiguration(
            yaml: """
                cameras:
                  - {id: barn, source: "http://u:secret@192.0.2.3/live.m3u8?token=hidden"}
                  - {id: gate, source: "rtmp://192.0.2.3/live/gate?password=covert"}
                  - {id: desk, source: "v4l2:/dev/video0?format=mjpeg", framesPerSecond: 5}
                """, file: "c.yaml", directory: "/", environment: [:]
        ).cameras
        #expect(streams.map(\.pull) == [.always, .always, .onDemand] && streams.allSatisfy { !$0.isOnBattery })
        #expect(streams[0].source == .stream("http://u:secret@192.0.2.3/live.m3u8?token=hidden"))
        #expect(streams[2].source == .videoDevice("v4l2:/dev/video0?format=mjpeg"))
        #expect(streams.flatMap(\.secrets) == ["secret", "hidden", "covert"])
        #expect(CameraAddress(text: "hls+https://u:p@192.0.2.3/a").masked == "hls+https://u:***@192.0.2.3/a")
        for wrong in [
            "rtmp://u:p@192.0.2.3/a/b", "v4l2:/etc/passwd", "tcp://192.0.2.3", "file:///a.m3u8", "srt://192.0.2.3:1",
        ] {
            #expect(throws: ConfigurationError.self) {
                _ = try GatewayConfiguration(
                    yaml: "cameras: [{id: a, source: \"\(wrong)\"}]", file: "c.yaml", directory: "/", environment: [:])
            }
        }
        let yard = try #require(configuration.cameras.first)
        #expect(yard.source == .rtsp("rtsps://u:p%40ss@192.0.2.1/main"))
        #expect(yard.substream == "rtsp://u:p%40ss@192.0.2.1/sub?cost=${x}")
        #expect(yard.transport == .udp)
        #expect(yard.keepAlive == .setParameter)
        #expect(yard.pull == .onDemand)
        #expect(yard.talkback == .off)
        #expect(yard.transcodesVideo == .always)
        #expect(
            yard.onvif == .init(url: "http://192.0.2.1/onvif/device_service", username: "u", password: "p%40ss"))
        #expect(yard.acceptsWebhook)
        #expect(yard.secrets.sorted() == ["p%40ss", "p%40ss", "p%40ss", "p@ss", "p@ss"])
        #expect(configuration.cameras[1].source == .onvif("onvif://u:p@192.0.2.2:8000"))
        #expect(configuration.cameras[2].source == .publisher)
        let porch = configuration.cameras[1]
        #expect(porch.transport == .automatic && porch.keepAlive == .automatic && porch.pull == .always)
        // Only a camera that is asked by ONVIF has a smaller stream that the configuration does not name.
        #expect(porch.substream == nil && porch.asksForSubstream && porch.substreamURL == nil)
        #expect(!yard.asksForSubstream && yard.substreamURL == yard.substream)
        #expect(!configuration.cameras[2].asksForSubstream)
        #expect(
            porch.talkback == .automatic && porch.transcodesVideo == .automatic && porch.onvif == nil
                && !porch.acceptsWebhook)
        #expect(configuration.rtsp?.host == "127.0.0.1")
        #expect(configuration.rtsp?.port == 554)
        #expect(try GatewayConfiguration(yaml: "").rtsp == nil)
    }

    @Test func aWrongKeyOfACameraIsReportedWithItsLine() {
        let found = problems(
            """
            rtsp: {port: 0}
            cameras:
              - id: a
                source: exec:ffmpeg
                transport: multicast
              - id: b
                source: whip
                substream: "rtsp://192.0.2.1/"
                keepAlive: 5
              - id: c
                source: "rtsp://192.0.2.1/"
                substream: "http://192.0.2.1/"
                pull: sometimes
                talkback: maybe
                transcodeVideo: sometimes
                onvif: {url: "http://u:topsecret@192.0.2.1/"}
                webhooks: true
              - id: d
                source: "onvif://"
                onvif: {username: u}
            """)
        #expect(
            found.map { "\($0.line) \($0.key)" } == [
                "1 rtsp.port", "4 cameras[0].source", "5 cameras[0].transport", "8 cameras[1].substream",
                "9 cameras[1].keepAlive", "12 cameras[2].substream", "13 cameras[2].pull", "14 cameras[2].talkback",
                "15 cameras[2].transcodeVideo", "16 cameras[2].onvif.url", "17 cameras[2].webhooks",
                "19 cameras[3].source", "20 cameras[3].onvif",
            ])
        #expect(found.allSatisfy { !$0.description.contains("topsecret") })
    }

    @Test func theTCPPortOfViewersIsThatOfTheMediaPortUnlessTheConfigSaysOtherwise() throws {
        func tcp(_ network: String) throws -> GatewayConfiguration.Network.TCP {
            try GatewayConfiguration(yaml: "network: {\(network)}").network.tcp
        }
        #expect(try tcp("") == .mediaPort)
        #expect(try tcp("tcp: true") == .mediaPort)
        #expect(try tcp("tcp: false") == .off)
        #expect(try tcp("tcp: 443") == .port(443))
        for wrong in ["0", "65536", "yes please", "[443]"] {
            #expect(problems("network: {tcp: \(wrong)}").map(\.key) == ["network.tcp"], "\(wrong)")
        }
    }

    @Test func theNameInTheLocalNetworkCanBeChangedAndSwitchedOff() throws {
        func network(_ text: String) throws -> GatewayConfiguration.Network {
            try GatewayConfiguration(yaml: "network: {\(text)}").network
        }
        #expect(try network("").multicastDNS == .on(name: "gatehouse"))
        #expect(try network("mdns: true").multicastDNS == .on(name: "gatehouse"))
        #expect(try network("mdns: false").multicastDNS == .off)
        #expect(try network("mdns: Front-Door2").multicastDNS == .on(name: "front-door2"))
        for wrong in ["gatehouse.local", "-a", "b-", "a b", "ä", "[a]", String(repeating: "a", count: 61)] {
            #expect(problems("network: {mdns: \(wrong)}").map(\.key) == ["network.mdns"], "\(wrong)")
        }
        #expect(try !network("").mapsPort)
        #expect(try network("portMapping: true").mapsPort)
        #expect(problems("network: {portMapping: 8189}").map(\.key) == ["network.portMapping"])
    }

    @Test func httpsCanBeSwitchedOff() throws {
        #expect(try GatewayConfiguration(yaml: "http: {https: false}").http.https == nil)
    }

    @Test func eachProblemNamesItsLineAndKey() {
        let found = problems(
            """
            http:
              prot: 8080
              host: example.com
            sessions:
              durationSeconds: 5
            cameras:
              - id: a b
                source: builtin:doorbell
              - id: c
                source: /dev/video0
              - id: d
            """)
        #expect(
            found.map { "\($0.line) \($0.key)" } == [
                "2 http.prot", "3 http.host", "5 sessions.durationSeconds", "7 cameras[0].id", "10 cameras[1].source",
                "11 cameras[2]",
            ])
        #expect(found[0].reason.contains("did you mean port?"))
    }

    @Test func `ports of cameras are from 1 to 65535, and all problems of a camera are reported`() {
        let found = problems(
            """
            cameras:
              - id: a
                source: "rtsp://u:secret@192.0.2.1:99999/x"
              - id: b
                source: "http://192.0.2.1:0/x"
              - id: c
                source: "onvif://192.0.2.1:65536"
              - id: d
                source: "rtsp://192.0.2.1:65535/"
                substream: "rtsp://192.0.2.1:70000/"
                onvif: {url: "http://192.0.2.1:70000/"}
              - id: a b
                source: foo
              - source: foo
            """)
        #expect(
            found.map { "\($0.line) \($0.key)" } == [
                "3 cameras[0].source", "5 cameras[1].source", "7 cameras[2].source", "10 cameras[3].substream",
                "11 cameras[3].onvif.url", "12 cameras[4].id", "13 cameras[4].source", "14 cameras[5]",
                "14 cameras[5].source",
            ])
        #expect(found.prefix(5).allSatisfy { $0.reason.contains("1 to 65535") && !$0.reason.contains("secret") })
    }

    @Test func syntaxErrorsNameTheirLine() {
        #expect(problems("http:\n  port: [1\ncameras: x").first?.line ?? 0 > 0)
        #expect(problems("http: {}\nhttp: {}").first?.reason.contains("more than once") == true)
        #expect(problems("- a\n- b").first?.reason.contains("keys and values") == true)
    }

    @Test func messagesNeverRepeatASecret() {
        let yaml = """
            cameras:
              - {id: a, source: "rtsp://user:topsecret@"}
              - {id: b, source: "topsecret"}
              - {id: topsecret topsecret, source: "builtin:doorbell"}
            network: {stun: ["turn:topsecret"], turn: [{url: topsecret, credential: topsecret}]}
            media: {iceServers: [{url: topsecret, credential: topsecret}], addresses: [topsecret]}
            http: {port: topsecret, origins: [topsecret], https: {port: 8080, certificate: topsecret}}
            """
        let found = problems(yaml)
        #expect(found.count >= 6)
        #expect(found.allSatisfy { !$0.description.contains("topsecret") })
    }

    @Test func missingEnvironmentVariablesAndDuplicateIdsAreReported() {
        #expect(
            problems(#"cameras: [{id: a, source: "rtsp://u:${NOPE}@h/"}]"#).first?.reason
                == "the environment variable NOPE is not set")
        let double = problems(
            "cameras:\n  - {id: a, source: \"builtin:doorbell\"}\n  - {id: a, source: \"builtin:doorbell\"}")
        #expect(double.first?.line == 3)
        #expect(double.first?.reason.contains("line 2") == true)
    }

    @Test func portsMustDifferAndCertificateFilesComeInPairs() {
        #expect(problems("http: {port: 8443}").count == 1)
        #expect(problems("http: {https: {certificate: a}}").count == 1)
        #expect(problems("sessions: {durationSeconds: 100, maximumDurationSeconds: 50}").count == 1)
        #expect(problems("sessions: {maximumDurationSeconds: 2}").isEmpty)
    }

    @Test func aMissingFileIsReported() {
        let error = #expect(throws: ConfigurationError.self) {
            try GatewayConfiguration(contentsOfFile: "/nonexistent/gatehouse.yaml")
        }
        #expect(error?.description == "/nonexistent/gatehouse.yaml: the file does not exist")
    }

    @Test(arguments: [
        ("fifo", RegularFile.Failure.notRegular), ("device", .notRegular), ("folder", .folder),
        ("huge", .tooLarge(limit: 1 << 20)),
    ])
    func `a config that is not a file, or a huge one, is refused before it is read`(
        kind: String, expected: RegularFile.Failure
    ) throws {
        let folder = try TemporaryFolder()
        try folder.directory.create()
        let path = kind == "device" ? "/dev/zero" : folder.directory.file("gatehouse.yaml")
        switch kind {
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        case "folder": #expect(mkdir(path, 0o700) == 0)
        case "huge":
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            #expect(truncate(path, 4 << 30) == 0)
        default: break
        }
        let error = #expect(throws: ConfigurationError.self) { try GatewayConfiguration(contentsOfFile: path) }
        #expect(error?.description == "\(path): \(expected.words)")
    }

    @Test func `a file without a size is read to its end`() throws {
        // The kernel makes it when it is read.
        #expect(try !RegularFile.read("/proc/self/status", limit: 1 << 20).isEmpty)
        #expect(throws: RegularFile.Failure.tooLarge(limit: 10)) {
            try RegularFile.read("/proc/self/status", limit: 10)
        }
    }

    @Test func theExampleInTheDocumentationIsValid() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs/configuration.md").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "```yaml\n"))
        let end = try #require(text.range(of: "\n```", range: start.upperBound..<text.endIndex))
        let configuration = try GatewayConfiguration(
            yaml: String(text[start.upperBound..<end.lowerBound]), environment: ["YARD_PASSWORD": "x"])
        #expect(configuration.cameras.count == 2)
    }

    @Test func damagedFilesGiveErrorsInsteadOfACrash() {
        let good = Array(
            "http: {port: 1, https: {port: 2}}\nmedia: {addresses: [1.2.3.4]}\ncameras:\n - {id: a, source: \"rtsp://${A}@h/\"}\n"
                .utf8)
        var state: UInt64 = 7
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let alphabet = Array("{}[]:,-#&*!|>'\"%@`$ \n\t0aé\u{0}".utf8)
        var failures = 0
        for _ in 0..<3_000 {
            var bytes = good
            for _ in 0...next(4) {
                let position = next(bytes.count)
                switch next(3) {
                case 0: bytes[position] = alphabet[next(alphabet.count)]
                case 1: bytes.remove(at: position)
                default: bytes.insert(alphabet[next(alphabet.count)], at: position)
                }
            }
            if !problems(String(decoding: bytes, as: UTF8.self), environment: ["A": "u:p"]).isEmpty {
                failures += 1
            }
        }
        #expect(failures > 1_000)
    }
}
