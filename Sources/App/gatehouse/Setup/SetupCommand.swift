import ArgumentParser
import Foundation
import Gateway
import Glibc

/// `gatehouse setup`: asks four questions and writes a config.
struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup", abstract: "Ask four questions and write a config.",
        discussion: """
            The questions are: the first camera, its name, whether other devices may open the page, and where recordings \
            go. The camera that you choose is tried for a few seconds before the next question. An option answers its \
            question. Without a terminal, setup asks nothing. It uses the options, and otherwise the built-in \
            doorbell, on this machine only, without recordings. gatehouse serve reads the file \
            unless it is given another one.
            """)

    @Option(
        help: ArgumentHelp(
            "The first camera: rtsp://…, onvif://…, http://…, rtmp://…, its IP address, or builtin. ${NAME} is read from the environment of "
                + "the gateway.", valueName: "address"))
    var camera: String?

    @Option(help: ArgumentHelp("The name of the first camera.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "What the first camera is: camera or doorbell. Without it, its name decides.", valueName: "type"))
    var type: String?

    @Flag(inversion: .prefixedNo, help: "Let other devices open the page over HTTPS.")
    var open: Bool?

    @Option(
        help: ArgumentHelp(
            "Where recordings of motion go: a folder, state for the state folder, or none.", valueName: "folder"))
    var recordings: String?

    @Option(
        help: ArgumentHelp(
            "The STUN server that lets viewers on other networks find the gateway.", valueName: "host"))
    var stun: String?

    @Flag(inversion: .prefixedNo, help: "Look for cameras on the network before asking for one.")
    var search = true

    @Flag(
        name: .customLong("try"), inversion: .prefixedNo,
        help: "Connect to the camera that you choose before it is used.")
    var tries = true

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file to write. Defaults to the one that gatehouse serve reads.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace an existing file without asking.")
    var force = false

    func run() throws {
        let path = output ?? StandardConfigurationFile.path()
        let given = try givenAnswers()
        let asks = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        let answers = try reportingFailures {
            try prepare(path, asks: asks)
            let console = SetupDialogue.Console.terminal(searches: search, tries: tries)
            let answers = asks ? try SetupDialogue(console: console).answers(given) : given.answers
            try OutputFile.replace(Array(try answers.yaml().utf8), at: path)
            return answers
        }
        print("\(path) is written.")
        sayWhatToDo(path, answers)
        if asks, answers.isOpen, output == nil { showCode() }
    }

    private func givenAnswers() throws -> SetupDialogue.Given {
        var given = SetupDialogue.Given()
        do {
            given.camera = try camera.map { $0 == "builtin" ? .builtIn : .source(try SetupCameraAddress($0).source) }
        } catch {
            throw ValidationError("--camera: \(error)")
        }
        given.name = name
        if let type {
            guard ["camera", "doorbell"].contains(type) else {
                throw ValidationError("--type must be camera or doorbell")
            }
            given.isDoorbell = type == "doorbell"
        }
        given.isOpen = open
        given.recordings = recordings.map { place in
            switch place {
            case "none": .none
            case "state": .standard
            default: .folder(URL(fileURLWithPath: place).path)
            }
        }
        given.stunServer = stun
        return given
    }

    /// Asks before anything else whether a file may be replaced, and makes the folder where the file belongs.
    private func prepare(_ path: String, asks: Bool) throws {
        if FileManager.default.fileExists(atPath: path), !force {
            guard asks else { throw FileFault("\(path) exists already; --force replaces it, --output names another") }
            let answer = SetupDialogue.Console.terminal(searches: false, tries: false).ask(
                "\(path) exists already. Replace it? [y/N] ")
            guard let answer, ["y", "yes"].contains(answer.lowercased()) else {
                throw FileFault("\(path) was left as it is")
            }
        }
        if output == nil {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try OutputFile.check(path)
    }

    /// Shows how a phone signs in, if the gateway has run before and therefore has a token. It keeps the token.
    private func showCode() {
        guard let known = try? LocalGateway.find() else { return }
        var gateway = known.gateway
        var configuration = GatewayConfiguration()
        configuration.http.https?.host = "0.0.0.0"
        gateway.addresses = PageAddresses(configuration)
        guard let address = gateway.signingInElsewhere(token: known.token) else { return }
        let words = "When the gateway runs with this config, scan this code to sign in. It holds the owner's token:"
        SignInCode.show(address, words: words, isLight: false)
    }

    private func sayWhatToDo(_ path: String, _ answers: SetupAnswers) {
        // systemd's own sign that it runs, sd_booted(3).
        let isService =
            output == nil && path == "/etc/gatehouse/gatehouse.yaml"
            && FileManager.default.fileExists(atPath: "/run/systemd/system")
            && FileManager.default.fileExists(atPath: "/usr/lib/systemd/system/gatehouse.service")
        if isService {
            print("Start the gateway with it: sudo systemctl restart gatehouse")
            if case .folder(let folder) = answers.recordings {
                print("The gateway has to own the folder of the recordings: sudo chown gatehouse: \(folder)")
            }
        } else {
            print("Start the gateway with it: gatehouse serve\(output.map { " --config \($0)" } ?? "")")
        }
        if answers.isOpen {
            let standard = GatewayConfiguration()
            let ports = [standard.http.https?.port].compactMap { $0 }
            print(Greeting.ports(ports, media: standard.media.port))
        }
        print("Then \(isService ? "sudo " : "")gatehouse token --url prints where the page is, and a code for phones.")
    }
}
