import Cameras
import Foundation
import Gateway
import Glibc
import ONVIF
import Transport

extension SetupDialogue.Console {
    /// The terminal, and the cameras that answer on the network.
    static func terminal(searches: Bool, tries: Bool) -> SetupDialogue.Console {
        SetupDialogue.Console(
            say: { print($0.onOneLine) },
            ask: { question in
                print(question, terminator: "")
                return readLine()
            },
            askSecretly: { question in
                withoutEcho {
                    print(question, terminator: "")
                    return readLine()
                }
            },
            search: searches ? { answeringCameras() } : nil,
            probe: tries ? { source in fault(of: source) } : nil)
    }

    /// Why a camera sends nothing; nil if it does, or if only the gateway knows its whole address.
    private static func fault(of source: String) -> String? {
        guard !source.contains("${") else { return nil }
        // Somebody waits at the terminal.
        var configuration = RTSPSource.Configuration()
        configuration.connectTimeout = .seconds(3)
        configuration.answerTimeout = .seconds(4)
        configuration.firstPacketTimeout = .seconds(4)
        do {
            let address = try CameraProbeAddress(source)
            let report = try address.watch(configuration: configuration, duration: .seconds(1))
            return ProbedCamera(report, typed: address.typed, expanded: address.expanded).failure
        } catch {
            return error.description
        }
    }

    private static func answeringCameras() -> [SetupDialogue.FoundCamera] {
        // A machine that cannot send to the group has no cameras to list; the address can be typed.
        let cameras = (try? ONVIFDiscovery.search(duration: .seconds(3))) ?? []
        return cameras.map { camera in
            let words = [camera.match.name, camera.match.hardware].compactMap { $0 }.joined(separator: ", ")
            return SetupDialogue.FoundCamera(host: camera.host, words: words.isEmpty ? "unnamed" : words)
        }.sorted { $0.host < $1.host }
    }

    /// Asks while the terminal does not show what is typed. What somebody has typed ahead is kept.
    private static func withoutEcho(_ read: () -> String?) -> String? {
        var shown = termios()
        guard tcgetattr(STDIN_FILENO, &shown) == 0 else { return read() }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &hidden)
        defer {
            tcsetattr(STDIN_FILENO, TCSADRAIN, &shown)
            print("")
        }
        return read()
    }
}
