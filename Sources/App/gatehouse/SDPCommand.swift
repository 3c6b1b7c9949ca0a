import ArgumentParser
import Foundation
import SDP
import Transport

/// `gatehouse sdp`: reads, answers and explains session descriptions.
struct SDPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sdp", abstract: "Read, answer and explain session descriptions.",
        discussion: "Exit code 0 for a usable description, 2 for an unusable one, with the line and the reason.",
        subcommands: [SDPParseCommand.self, SDPAnswerCommand.self, SDPExplainCommand.self])
}

/// A session description in a file.
struct DescriptionFile {
    /// Where it was read from, for messages.
    let path: String
    let description: SessionDescription

    /// The largest file that is read; no description is a hundredth of that.
    private static let maximumSize = 4 << 20

    /// Reads the file `path`, or standard input for `-`.
    init(_ path: String) throws {
        let data: Data
        do {
            data =
                path == "-"
                ? try FileHandle.standardInput.read(upToCount: Self.maximumSize) ?? Data()
                : try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            printError("gatehouse: \(path) cannot be read: \(error.localizedDescription)")
            throw ExitCode.failure
        }
        do {
            description = try SessionDescription(
                parsing: String(decoding: data.prefix(Self.maximumSize), as: UTF8.self))
        } catch {
            printError("gatehouse: \(path): \(error)")
            throw ExitCode(2)
        }
        self.path = path
    }

    /// Ends the command with exit code 2 where nothing of the description can be used.
    func requireUsable(_ explanation: SDPExplanation) throws {
        guard let fault = explanation.fault else { return }
        let place = fault.line > 0 ? "line \(fault.line): " : ""
        printError("gatehouse: \(path): \(place)\(fault.reason)")
        throw ExitCode(2)
    }
}

/// `gatehouse sdp parse`: what a description says.
struct SDPParseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "parse", abstract: "Show what a description says.")

    @Argument(help: ArgumentHelp("The description, or - for standard input.", valueName: "file"))
    var file: String

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
            for problem in file.description.problems { printError("\(file.path): \(problem)") }
        }
        try file.requireUsable(SDPExplainer.explain(file.description))
    }
}

/// `gatehouse sdp answer`: the answer that the gateway would give.
struct SDPAnswerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "Show the answer that a live view would give to an offer.",
        discussion: "Without --camera the built-in camera answers: VP8 and Opus. Addresses and keys are examples.")

    @Argument(help: ArgumentHelp("The offer, or - for standard input.", valueName: "offer"))
    var offer: String

    @Option(help: ArgumentHelp("A camera's description, as its RTSP server gives it.", valueName: "file"))
    var camera: String?

    func run() throws {
        let offer = try DescriptionFile(self.offer)
        var random = RandomSource.system
        let tracks: [LocalTrack]
        if let camera {
            let file = try DescriptionFile(camera)
            let playable = file.description.liveViewTracks
            guard !playable.isEmpty else {
                try file.requireUsable(SDPExplainer.explain(file.description))
                printError("gatehouse: \(camera): no track of this camera can be passed on as it is")
                throw ExitCode(2)
            }
            tracks = LocalTrack.liveView(of: playable, random: &random, cname: "camera")
        } else {
            tracks = Self.builtInTracks
        }
        let local = LocalTransportDescription(
            usernameFragment: random.iceCharacters(8), password: random.iceCharacters(24),
            fingerprints: [Fingerprint(algorithm: "sha-256", bytes: (0..<32).map { UInt8($0) })],
            candidates: [
                ICECandidate(
                    foundation: "1", priority: 2_130_706_431, address: TransportAddress(ipv4: 0xC000_0202, port: 8189))
            ])
        do {
            let negotiated = try LiveViewAnswerer(local: local, tracks: tracks).answer(offer.description)
            print(negotiated.answer.encoded(), terminator: "")
            for note in negotiated.notes { printError("note: \(note)") }
        } catch {
            try offer.requireUsable(SDPExplainer.explain(offer.description))
            printError("gatehouse: \(offer.path): \(error)")
            throw ExitCode(2)
        }
    }

    private static let builtInTracks = [
        LocalTrack(
            kind: .video, codecs: [.vp8], ssrc: 1, rtxSSRC: 2, cname: "front-door", streamID: "front-door-video",
            trackID: "video"),
        LocalTrack(
            kind: .audio, codecs: [.opus], receives: true, receiveCodecs: [.opus, .pcmu, .pcma], ssrc: 3,
            cname: "front-door", streamID: "front-door-audio", trackID: "audio"),
    ]
}

/// `gatehouse sdp explain`: a description in words.
struct SDPExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Say in words what of a description would play, what would not, and why.")

    @Argument(help: ArgumentHelp("The description, or - for standard input.", valueName: "file"))
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let file = try DescriptionFile(self.file)
        let explanation = SDPExplainer.explain(file.description)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            printJSON(try encoder.encode(explanation))
        } else {
            for line in explanation.lines { print(line) }
        }
        try file.requireUsable(explanation)
    }
}
