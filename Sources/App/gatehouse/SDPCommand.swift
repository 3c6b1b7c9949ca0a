import ArgumentParser
import Cameras
import Foundation
import SDP
import Signalling
import Transport

/// `gatehouse sdp`: reads, answers and explains session descriptions.
struct SDPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sdp", abstract: "Read, answer and explain session descriptions.",
        discussion: """
            Each command does what the gateway does with the description: /whep with a viewer's offer, /whip with a \
            publisher's, and the RTSP client with a camera's. The exit code is 0 for a usable description. It is 2 \
            for an unusable one, which is reported with its line and the reason.
            """,
        subcommands: [SDPParseCommand.self, SDPAnswerCommand.self, SDPExplainCommand.self])
}

extension DescriptionReading: ExpressibleByArgument {}

/// A session description in a file.
struct DescriptionFile {
    /// Where it was read from, for messages.
    let path: String
    let description: SessionDescription

    /// Reads the file `path`, or standard input for `-`.
    init(_ path: String) throws {
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try InputFile.read(path, limit: SessionDescription.maximumLength, what: "session description")
        } catch {
            printError("gatehouse: \(error)")
            throw ExitCode.failure
        }
        do {
            description = try SessionDescription(parsing: String(decoding: bytes, as: UTF8.self))
        } catch {
            printError("gatehouse: \(path): \(error)".onOneLine)
            throw ExitCode(2)
        }
        self.path = path
    }

    /// Ends the command with exit code 2 when nothing of the description can be used.
    func requireUsable(_ explanation: DescriptionExplanation) throws {
        guard let fault = explanation.fault else { return }
        throw refused(fault.reason, line: fault.line)
    }

    /// Says why the description cannot be used.
    func refused(_ reason: String, line: Int?) -> ExitCode {
        let place = line.map { $0 > 0 ? "line \($0): " : "" } ?? ""
        printError("gatehouse: \(path): \(place)\(reason)".onOneLine)
        return ExitCode(2)
    }
}

/// The kind of description that a file is read as.
struct ReadingOptions: ParsableArguments {
    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "Read it as a viewer's or a publisher's offer, an answer, or a camera's description.", valueName: "reading")
    )
    var reading: DescriptionReading?
}

/// `gatehouse sdp parse`: prints what a description says.
struct SDPParseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "parse", abstract: "Show what a description contains.")

    @Argument(help: ArgumentHelp("The description, or - for standard input.", valueName: "file"))
    var file: String

    @OptionGroup var options: ReadingOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let file = try DescriptionFile(self.file)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            printJSON(try encoder.encode(SessionDescriptionDocument(file.description)))
        } else {
            print(file.description.encoded(), terminator: "")
            for problem in file.description.problems { printError("\(file.path): \(problem)".onOneLine) }
        }
        try file.requireUsable(DescriptionExplainer().explain(file.description, as: options.reading))
    }
}

/// `gatehouse sdp answer`: prints the answer that the gateway would give.
struct SDPAnswerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "Show the answer that the gateway would give to an offer.",
        discussion: """
            A viewer's offer is answered as /whep answers it: for the camera whose description --camera names, or for \
            the built-in doorbell, which sends VP8 and Opus. A publisher's offer, which sends and asks for nothing, is \
            answered as /whip answers it. Addresses and keys are examples.
            """)

    @Argument(help: ArgumentHelp("The offer, or - for standard input.", valueName: "offer"))
    var offer: String

    @Option(help: ArgumentHelp("A camera's description, as its RTSP server gives it.", valueName: "file"))
    var camera: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Transcode the camera's picture to VP8 if the viewer cannot play it, as transcodeVideo: auto does.")
    var transcodeVideo = true

    @OptionGroup var options: ReadingOptions

    func validate() throws {
        if options.reading == .answer || options.reading == .camera {
            throw ValidationError("--as must be viewer or publisher, because only an offer can be answered")
        }
        if options.reading == .publisher, camera != nil {
            throw ValidationError("--camera is for a viewer's offer; a publisher is the camera itself")
        }
    }

    func run() throws {
        let offer = try DescriptionFile(self.offer)
        var random = RandomSource.system
        let local = LocalTransportDescription(
            usernameFragment: random.iceCharacters(8), password: random.iceCharacters(24),
            fingerprints: [Fingerprint(algorithm: "sha-256", bytes: (0..<32).map { UInt8($0) })],
            candidates: [
                ICECandidate(
                    foundation: "1", priority: 2_130_706_431, address: TransportAddress(ipv4: 0xC000_0202, port: 8189))
            ])
        // A user who names a camera wants to watch it.
        let reading = options.reading ?? (camera == nil ? offer.description.likelyOffer : .viewer)
        // Read before the offer is judged, because its faults are not the offer's.
        var watched = reading == .publisher ? nil : try described()
        if options.reading == nil, camera == nil, offer.description.mayBeEitherOffer {
            watched?.1.append(
                "the offer also sends video, as a publisher's does; use --as publisher to answer it as /whip does")
        }
        do throws(OfferRefusal) {
            if let (negotiation, notes) = watched {
                let agreement = try negotiation.answer(offer.description, local: local, random: &random)
                show(agreement.session, agreement.notes.map(\.description), notes)
            } else {
                let session = try PublisherNegotiation().answer(offer.description, local: local)
                show(
                    session, session.notes.map(\.description),
                    ["answered as /whip does for a publisher; use --as viewer to answer it as /whep"])
            }
        } catch {
            throw offer.refused(error.reason.words, line: error.line)
        }
    }

    /// The camera that answers, and the notes about it.
    private func described() throws -> (LiveViewNegotiation, [String]) {
        guard let camera else {
            return (
                LiveViewNegotiation(
                    camera: "front-door", tracks: BuiltInCamera.tracks, speaks: true, transcodesVideo: transcodeVideo),
                ["answered for the built-in doorbell, which sends VP8 and Opus; --camera FILE names another camera"]
            )
        }
        let file = try DescriptionFile(camera)
        try file.requireUsable(
            DescriptionExplainer(transcodesVideo: transcodeVideo).explain(file.description, as: .camera))
        let offering = CameraOffering(file.description)
        return (
            LiveViewNegotiation(
                camera: "camera", tracks: offering.tracks, speaks: offering.hasSpeaker,
                transcodesVideo: transcodeVideo),
            offering.notes.map(\.description)
        )
    }

    private func show(_ session: NegotiatedSession, _ notes: [String], _ remarks: [String]) {
        print(session.answer.encoded(), terminator: "")
        for note in remarks + notes { printError("note: \(note)".onOneLine) }
    }
}

/// `gatehouse sdp explain`: explains a description in words.
struct SDPExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain what in a session description would play, what would not, and why.")

    @Argument(help: ArgumentHelp("The description, or - for standard input.", valueName: "file"))
    var file: String

    @OptionGroup var options: ReadingOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let file = try DescriptionFile(self.file)
        let explanation = DescriptionExplainer().explain(file.description, as: options.reading)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            printJSON(try encoder.encode(explanation))
        } else {
            for line in explanation.lines { print(line.onOneLine) }
        }
        try file.requireUsable(explanation)
    }
}
