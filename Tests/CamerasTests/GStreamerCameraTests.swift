import Glibc
import PacketFakes
import RTP
import RTSP
import SDP
import StationFakes
import Testing

@testable import Cameras

/// The source against an RTSP server that nobody here wrote: GStreamer's, which `Tests/Peers/rtsp-camera.py` starts.
/// They wait for the camera's process, which must not keep a shared thread busy.
@Suite(
    .serialized, .ownThread, .timeLimit(.minutes(10)),
    .enabled(if: GStreamerCamera.isInstalled, "GStreamer's RTSP server is not installed"))
struct GStreamerCameraTests {
    @Test(
        arguments: [
            ("h264", "H264", "PCMA"), ("pcmu", "H264", "PCMU"), ("bare", "H264", "PCMA"), ("vp8", "VP8", "OPUS"),
            ("silent", "H264", nil),
        ] as [(String, String, String?)])
    func everyCodecFlowsWithDigest(path: String, video: String, audio: String?) async throws {
        let camera = try GStreamerCamera(["--user", "cam", "--password", "p@ss:1", "--key-interval", "0.5"])
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try RTSPSource(
            address: "rtsp://cam:p@ss:1@127.0.0.1:\(camera.port)/\(path)", configuration: .patient)
        source.start(sink: sink)
        var keyFrames = 0
        var sounds = 0
        var items = await sink.take { item in
            guard case .packets(let packets, let track) = item else { return item.isBackingOff }
            if track == 0 { keyFrames += packets.filter { $0.flags.contains([.startsFrame, .keyFrame]) }.count }
            if track == 1 { sounds += packets.count }
            return keyFrames >= 3 && (audio == nil || sounds >= 25)
        }
        source.stop()
        items += await sink.rest()

        #expect(
            items.states == [
                .resolving, .connecting, .describing, .authenticating, .settingUp, .playing, .flowing, .stopped,
            ])
        let tracks = items.compactMap { item -> [TrackDescription]? in
            guard case .event(.tracks(let tracks)) = item else { return nil }
            return tracks
        }
        #expect(tracks.first?.map { $0.codec.name.uppercased() } == [video, audio].compactMap { $0 })
        let packets = items.packets(ofTrack: 0)
        for (packet, next) in zip(packets, packets.dropFirst()) {
            #expect(next.sequenceNumber == packet.sequenceNumber &+ 1)
        }
        #expect(packets.allSatisfy { $0.payload.count <= PayloadLimit.everyPath })
        if video == "H264" {
            // Every key frame begins with its parameter sets, even if the camera sends them only in its description.
            for packet in packets where packet.flags.contains([.startsFrame, .keyFrame]) {
                let first = packet.payload[0] & 0x1F
                #expect(first == 7 || first == 24 && packet.payload[3] & 0x1F == 7)
            }
        }
    }

    @Test func basicIsAnsweredAndAWrongPasswordIsNamed() async throws {
        let camera = try GStreamerCamera(["--user", "cam", "--password", "right", "--auth", "basic"])
        defer { camera.stop() }
        for (password, isRight) in [("right", true), ("wrong", false)] {
            let sink = RecordingSink()
            let source = try RTSPSource(
                address: "rtsp://cam:\(password)@127.0.0.1:\(camera.port)/silent", configuration: .patient)
            source.start(sink: sink)
            let items = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
            source.stop()
            #expect((items.states.last == .flowing) == isRight)
            guard case .backingOff(_, let reason)? = items.states.last else { continue }
            #expect(reason == .rtsp(.unauthorized(.credentialsRefused)))
        }
    }

    @Test func aCameraThatReturnsIsFoundAgain() async throws {
        let first = try GStreamerCamera([])
        let sink = RecordingSink()
        let source = try RTSPSource(address: "rtsp://127.0.0.1:\(first.port)/vp8", configuration: .patient)
        source.start(sink: sink)
        var items = await sink.take { item in
            guard case .packets(let packets, 0) = item else { return false }
            return packets.last?.flags.contains(.marker) ?? false
        }
        first.stop()
        items += await sink.take(until: \.isBackingOff)
        let second = try GStreamerCamera(["--port", String(first.port)])
        defer { second.stop() }
        items += await sink.take { $0 == .event(.state(.flowing)) }
        items += await sink.take { item in
            guard case .packets(_, 0) = item else { return false }
            return true
        }
        source.stop()
        let packets = items.packets(ofTrack: 0)
        for (packet, next) in zip(packets, packets.dropFirst()) {
            #expect(next.sequenceNumber == packet.sequenceNumber &+ 1)
            // No jump beyond the pause, which lasts until the camera's program has started again. A timeline that does not
            // continue leaps by hours.
            #expect(next.timestamp &- packet.timestamp < 600 * 90_000)
        }
    }

    @Test func aKeyFrameIsMadeOnRequest() async throws {
        // By itself this camera sends a key frame every ten minutes.
        let camera = try GStreamerCamera(["--key-interval", "600"])
        defer { camera.stop() }
        let sink = RecordingSink()
        let source = try RTSPSource(address: "rtsp://127.0.0.1:\(camera.port)/h264", configuration: .patient)
        source.start(sink: sink)
        var frames = 0
        _ = await sink.take { item in
            guard case .packets(let packets, 0) = item else { return false }
            frames += packets.filter { $0.flags.contains(.marker) }.count
            return frames >= 10
        }
        source.requestKeyFrame(track: 0)
        var framesUntilKey = 0
        _ = await sink.take { item in
            guard case .packets(let packets, 0) = item else { return false }
            framesUntilKey += packets.filter { $0.flags.contains(.marker) }.count
            return framesUntilKey > 150 || packets.contains { $0.flags.contains([.startsFrame, .keyFrame]) }
        }
        source.stop()
        #expect(framesUntilKey <= 150)
    }
}

/// The script's process.
final class GStreamerCamera: Sendable {
    let port: Int
    private let process: pid_t

    /// Whether the Debian packages that the script needs are there.
    static var isInstalled: Bool {
        ["x86_64", "aarch64"].contains {
            access("/usr/lib/\($0)-linux-gnu/girepository-1.0/GstRtspServer-1.0.typelib", R_OK) == 0
        }
    }

    struct NotReady: Error {
        var output: String
    }

    /// Starts the script and waits for its word.
    init(_ arguments: [String]) throws {
        let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        let script = tests.joined(separator: "/") + "/Peers/rtsp-camera.py"
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw NotReady(output: "no pipe") }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        defer { close(ends[0]) }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addclose(&actions, ends[1])
        // It keeps no socket of the tests that run at the same time: what they close would stay open. Closing what is not
        // open is not an error here.
        for descriptor in 3..<Int32(4_096) { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var words: [UnsafeMutablePointer<CChar>?] = (["/usr/bin/python3", script] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var process = pid_t()
        let status = posix_spawn(&process, "/usr/bin/python3", &actions, nil, words, environ)
        close(ends[1])
        guard status == 0 else { throw NotReady(output: "no process") }
        self.process = process

        var text: [UInt8] = []
        while !text.contains(UInt8(ascii: "\n")), text.count < 1000 {
            var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            var buffer = [UInt8](repeating: 0, count: 100)
            guard poll(&waiting, 1, 90_000) == 1 else { break }
            let count = read(ends[0], &buffer, buffer.count)
            if count <= 0 { break }
            text += buffer.prefix(count)
        }
        let output = String(decoding: text, as: UTF8.self)
        let answer = output.split(whereSeparator: \.isWhitespace)
        guard answer.count >= 2, answer[0] == "ready", let port = Int(answer[1]) else {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
            throw NotReady(output: output)
        }
        self.port = port
    }

    /// Ends the script at once, as a power cut ends a camera.
    func stop() {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }
}
