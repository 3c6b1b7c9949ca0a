import HomeTypes
import STUN
import Testing

@testable import Gateway

/// The questions of `gatehouse setup`, and the config that comes of them.
@Suite struct SetupTests {
    /// A person who types these lines, and what they read.
    private final class Person {
        var lines: [String]
        var secrets: [String]
        var read: [String] = []
        /// What the search finds; nil for a person who does not want one.
        let found: [SetupDialogue.FoundCamera]?
        /// What trying a camera finds wrong, in turn; nil for a person who does not want that.
        var faults: [String?]?
        var tried: [String] = []

        init(
            _ lines: [String], secrets: [String] = [], found: [SetupDialogue.FoundCamera]? = [],
            faults: [String?]? = nil
        ) {
            self.lines = lines
            self.secrets = secrets
            self.found = found
            self.faults = faults
        }

        func answers(_ given: SetupDialogue.Given = .init()) throws -> SetupAnswers {
            var probe: ((String) -> String?)?
            if faults != nil {
                probe = { source in
                    self.tried.append(source)
                    guard let faults = self.faults, let first = faults.first else { return nil }
                    self.faults = Array(faults.dropFirst())
                    return first
                }
            }
            let console = SetupDialogue.Console(
                say: { self.read.append($0) },
                ask: { question in
                    self.read.append(question)
                    return self.lines.isEmpty ? nil : self.lines.removeFirst()
                },
                askSecretly: { question in
                    self.read.append(question)
                    return self.secrets.isEmpty ? nil : self.secrets.removeFirst()
                },
                search: found.map { found in return { found } },
                probe: probe)
            return try SetupDialogue(console: console).answers(given)
        }
    }

    private static let found = [
        SetupDialogue.FoundCamera(host: "192.0.2.20", words: "Yard"),
        SetupDialogue.FoundCamera(host: "192.0.2.21", words: "Drive, Model 2"),
    ]

    private func configuration(_ answers: SetupAnswers) throws -> GatewayConfiguration {
        try GatewayConfiguration(yaml: try answers.yaml(environment: [:]), environment: ["CAMERA_PASSWORD": "p"])
    }

    @Test func enterFourTimesIsAWorkingGateway() throws {
        let answers = try Person(["", "", "", ""]).answers()
        let configuration = try configuration(answers)
        #expect(configuration.cameras == GatewayConfiguration.demonstration.cameras)
        #expect(configuration.http.host == "127.0.0.1" && configuration.http.https?.host == "0.0.0.0")
        #expect(configuration.recording == nil && configuration.network.stunServers.isEmpty)
    }

    @Test func withoutASearchNothingIsSaidOfOne() throws {
        let person = Person(["", "", "", ""], found: nil)
        _ = try person.answers()
        #expect(person.read.count == 4 && person.read.first?.contains("its address") == true)
        let searching = Person(["", "", "", ""])
        _ = try searching.answers()
        #expect(searching.read.first?.hasPrefix("Looking for cameras") == true)
    }

    @Test func nothingGivenIsTheGatewayWithoutAConfig() throws {
        var configuration = try configuration(SetupDialogue.Given().answers)
        // Only a file has entries.
        configuration.cameraEntries = [:]
        #expect(configuration == .demonstration)
    }

    @Test func aCameraOfTheListIsChosenByItsNumber() throws {
        let person = Person(
            ["3", "2", "viewer", "Back yard", "n", "s"], secrets: ["p@ss ${HOME}/é"], found: Self.found)
        let answers = try person.answers()
        #expect(person.read.contains("  2  192.0.2.21  Drive, Model 2"))
        #expect(person.read.contains { $0.contains("the list has no camera 3") })
        #expect(answers.camera == .source("onvif://viewer:p%40ss%20%24%7BHOME%7D%2F%C3%A9@192.0.2.21"))
        let configuration = try configuration(answers)
        #expect(configuration.cameras.map(\.id) == ["back-yard"] && configuration.cameras[0].name == "Back yard")
        #expect(configuration.http.https?.host == nil)
        #expect(configuration.recording?.folder == nil && configuration.recording != nil)
        #expect(person.read.allSatisfy { !$0.contains("p@ss") && !$0.contains("p%40ss") })
    }

    @Test func aCameraThatDoesNotWorkIsUsedOnlyIfThePersonSaysSo() throws {
        let (wrong, right) = ("rtsp://a@192.0.2.20/wrong", "rtsp://a@192.0.2.20/right")
        let works = Person([right, "Yard", "n", ""], faults: [nil])
        #expect(try works.answers().camera == .source(right))
        #expect(works.tried == [right] && !works.read.contains { $0.contains("anyway") })

        // Enter is no, and asks for another one.
        let chooses = Person([wrong, "", right, "Yard", "n", ""], faults: ["no stream at this path", nil])
        #expect(try chooses.answers().camera == .source(right))
        #expect(chooses.tried == [wrong, right])
        #expect(chooses.read.contains("     It does not work yet: no stream at this path"))

        let insists = Person([wrong, "y", "Yard", "n", ""], faults: ["no stream at this path"])
        #expect(try insists.answers().camera == .source(wrong))

        let refuses = Person(
            Array(repeating: [wrong, "n"], count: 9).flatMap(\.self), faults: Array(repeating: "no media", count: 9))
        #expect(throws: SetupDialogue.Failure.notUnderstood("no camera was chosen")) { try refuses.answers() }
    }

    @Test func theBuiltInCameraIsNotTried() throws {
        let person = Person(["", "", "", ""], faults: [])
        #expect(try person.answers().camera == .builtIn)
        #expect(person.tried.isEmpty)
    }

    @Test func aDoorbellIsKnownByItsName() throws {
        func kind(_ name: String, _ isDoorbell: Bool? = nil) throws -> DeviceKind? {
            var answers = SetupAnswers()
            answers.camera = .source("rtsp://192.0.2.20/1")
            answers.name = name
            answers.isDoorbell = isDoorbell
            return try configuration(answers).cameras.first?.kind
        }
        #expect(try kind("Side doorbell") == .doorbell)
        #expect(try kind("Door-Bell 2") == .doorbell)
        #expect(try kind("Front door") == .camera)
        #expect(try kind("Front door", true) == .doorbell)
        #expect(try kind("Side doorbell", false) == .camera)
        // What the camera says of itself counts, too.
        let found = [SetupDialogue.FoundCamera(host: "192.0.2.20", words: "Video Doorbell 3")]
        let answers = try Person(["1", "", "Porch", "n", ""], found: found).answers()
        #expect(try configuration(answers).cameras.first?.kind == .doorbell)
        var given = SetupDialogue.Given()
        given.isDoorbell = false
        let decided = try Person(["1", "", "Porch", "n", ""], found: found).answers(given)
        #expect(try configuration(decided).cameras.first?.kind == .camera)
    }

    @Test func anAddressWithAUserAsksForNoPassword() throws {
        let address = "rtsp://viewer:${CAMERA_PASSWORD}@192.0.2.20/stream1"
        let answers = try Person([address, "Yard", "yes", "/srv/recordings"]).answers()
        #expect(answers.camera == .source(address))
        let configuration = try configuration(answers)
        #expect(configuration.cameras[0].source == .rtsp("rtsp://viewer:p@192.0.2.20/stream1"))
        #expect(configuration.recording?.folder == "/srv/recordings")
    }

    @Test func whatTheCommandLineAnsweredIsNotAsked() throws {
        var given = SetupDialogue.Given()
        given.camera = .builtIn
        given.isOpen = false
        given.recordings = SetupAnswers.Recordings.none
        given.stunServer = "stun.example.org:3479"
        let person = Person(["Hall"])
        let configuration = try configuration(try person.answers(given))
        #expect(person.read.count == 1 && configuration.cameras[0].name == "Hall")
        #expect(configuration.network.stunServers.map(\.description) == ["stun:stun.example.org:3479"])
        #expect(configuration.media.iceServers.map(\.url) == ["stun:stun.example.org:3479"])
    }

    @Test func anAnswerThatIsNeverUnderstoodEndsTheQuestions() {
        #expect(throws: SetupDialogue.Failure.notUnderstood("an address has no spaces")) {
            try Person(Array(repeating: "no idea", count: 9)).answers()
        }
        #expect(throws: SetupDialogue.Failure.ended) { try Person(["", "Yard"]).answers() }
        #expect(throws: SetupDialogue.Failure.ended) { try Person(["192.0.2.1", "viewer"]).answers() }
        #expect(throws: SetupDialogue.Failure.notUnderstood("expected a full path such as /srv/recordings")) {
            try Person(["", "", ""] + Array(repeating: "recordings", count: 5)).answers()
        }
    }

    @Test(arguments: [
        "Vorder\"tür\\", "- [x]: #", "${HOME}", "yes", "0x1", "日本", String(repeating: "long-name ", count: 12),
    ])
    func aNameIsTextWhateverItLooksLike(name: String) throws {
        var answers = SetupAnswers()
        answers.name = name.count > 64 ? String(name.prefix(59)) : name
        let read = try configuration(answers)
        #expect(read.cameras[0].name == answers.name)
        #expect(!read.cameras[0].id.isEmpty)
    }

    @Test func whatNoConfigCanHoldIsRefused() {
        var answers = SetupAnswers()
        answers.name = "a\u{202E}b"
        #expect(throws: ConfigurationError.self) { try answers.yaml(environment: [:]) }
        answers.name = "Yard"
        answers.camera = .source("rtsp://")
        #expect(throws: ConfigurationError.self) { try answers.yaml(environment: [:]) }
    }

    @Test func anAddressIsReadAsItIsTyped() throws {
        #expect(try SetupCameraAddress(" 192.0.2.1 ").source == "onvif://192.0.2.1")
        #expect(try SetupCameraAddress("cam.lan:8000").source == "onvif://cam.lan:8000")
        #expect(try SetupCameraAddress("2001:db8::1").source == "onvif://[2001:db8::1]")
        #expect(try SetupCameraAddress("RTSP://192.0.2.1/1").source == "RTSP://192.0.2.1/1")
        #expect(try SetupCameraAddress("rtsp://a@192.0.2.1/").hasUser)
        #expect(try !SetupCameraAddress("rtsp://192.0.2.1/a@b").hasUser)
        #expect(try SetupCameraAddress("http://192.0.2.1:81/stream").source == "http://192.0.2.1:81/stream")
        #expect(
            try SetupCameraAddress("https://192.0.2.1/now.jpg").signingIn(user: "a", password: "b@").source
                == "https://a:b%40@192.0.2.1/now.jpg")
        for stream in [
            "rtmp://192.0.2.1/live/gate", "hls+http://192.0.2.1/live", "udp://239.0.0.1:1234", "v4l2:/dev/video0",
        ] {
            #expect(try SetupCameraAddress(stream).source == stream)
        }
        for wrong in ["", "v4l2:/etc/passwd", "ftp://192.0.2.1/", "exec:ls x", "file:///etc/passwd"] {
            #expect(throws: SetupMisunderstanding.self) { try SetupCameraAddress(wrong) }
        }
    }
}
