import PacketFakes
import RTP
import RTSP
import SDP
import StationFakes
import Testing

@testable import Cameras

/// Every transport, with GStreamer's RTSP server as the camera.
/// They wait for the camera's process, which must not keep a shared thread busy.
@Suite(
    .serialized, .ownThread, .timeLimit(.minutes(10)),
    .enabled(if: GStreamerCamera.isInstalled, "GStreamer's RTSP server is not installed"))
struct GStreamerTransportTests {
    /// Pulls a second of pictures and sound; returns the findings.
    private func pull(
        _ address: String, untilReport: Bool = false, _ change: (inout RTSPSource.Configuration) -> Void
    ) async throws -> (profile: CameraProfile, items: [RecordingSink.Item]) {
        var configuration = RTSPSource.Configuration.patient
        change(&configuration)
        let sink = RecordingSink()
        let source = try RTSPSource(address: address, configuration: configuration)
        source.start(sink: sink)
        var frames = 0
        var sounds = 0
        var hasReport = !untilReport
        var failures = 0
        let items = await sink.take { item in
            if case .event(.senderReport) = item { hasReport = true }
            // The server is busy (503) while it cleans up the first attempt; the next one comes in half a second.
            if item.isBackingOff { failures += 1 }
            guard case .packets(let packets, let track) = item else { return failures == 3 }
            if track == 0 { frames += packets.filter { $0.flags.contains(.marker) }.count }
            if track == 1 { sounds += packets.count }
            return frames >= 15 && sounds >= 25 && hasReport
        }
        let profile = source.profile
        source.stop()
        #expect(frames >= 15 && sounds >= 25, "\(items.states.last.map { "\($0)" } ?? "")")
        return (profile, items)
    }

    @Test func overUDPWithDigest() async throws {
        let camera = try GStreamerCamera(["--transport", "udp", "--user", "cam", "--password", "secret"])
        defer { camera.stop() }
        // The server refuses TCP, so the source finds UDP.
        let (profile, items) = try await pull("rtsp://cam:secret@127.0.0.1:\(camera.port)/h264", untilReport: true) {
            _ in
        }
        #expect(profile.transport == .udp)
        #expect(profile.authentication?.hasPrefix("Digest") == true)
        let packets = items.packets(ofTrack: 0)
        for (packet, next) in zip(packets, packets.dropFirst()) {
            #expect(next.sequenceNumber == packet.sequenceNumber &+ 1)
        }
    }

    @Test func insideHTTP() async throws {
        let camera = try GStreamerCamera([])
        defer { camera.stop() }
        let (profile, _) = try await pull("rtsp://127.0.0.1:\(camera.port)/h264") { $0.transport = .http }
        #expect(profile.transport == .http)
    }

    @Test(arguments: [CameraTransport.tcp, .http]) func throughTLS(transport: CameraTransport) async throws {
        let camera = try GStreamerCamera(["--tls", "--user", "cam", "--password", "secret"])
        defer { camera.stop() }
        let address = "rtsps://cam:secret@127.0.0.1:\(camera.port)/vp8"
        let (profile, _) = try await pull(address) { $0.transport = transport }
        let fingerprint = try #require(profile.certificateFingerprint)
        #expect(fingerprint.count == 32 * 3 - 1)

        // The same camera again is known; as a pin, in another spelling, it is accepted.
        let (again, _) = try await pull(address) { configuration in
            configuration.transport = transport
            configuration.certificateFingerprint = fingerprint.lowercased().filter { $0 != ":" }
        }
        #expect(again.certificateFingerprint == fingerprint)
    }

    @Test func anotherCertificateIsReported() async throws {
        let camera = try GStreamerCamera(["--tls"])
        defer { camera.stop() }
        var configuration = RTSPSource.Configuration.patient
        configuration.profile.certificateFingerprint = "AA:BB"
        let sink = RecordingSink()
        let source = try RTSPSource(
            address: "rtsps://127.0.0.1:\(camera.port)/vp8-silent", configuration: configuration)
        source.start(sink: sink)
        let items = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
        #expect(items.states.last == .flowing)
        #expect(source.transportInUse.earlierCertificateFingerprint == "AA:BB")
        #expect(source.notes.first == .certificateChanged(earlierFingerprint: "AA:BB"))
        #expect(source.profile.certificateFingerprint != "AA:BB")
        source.stop()

        // A pin that does not match ends the connection before the first request.
        configuration.certificateFingerprint = "AA:BB"
        let second = RecordingSink()
        let pinned = try RTSPSource(
            address: "rtsps://127.0.0.1:\(camera.port)/vp8-silent", configuration: configuration)
        pinned.start(sink: second)
        let refused = await second.take(until: \.isBackingOff)
        pinned.stop()
        #expect(!refused.states.contains(.describing))
    }

    @Test func aProbeReportsWhatArrives() throws {
        let camera = try GStreamerCamera(["--key-interval", "0.5", "--user", "cam", "--password", "hunter2"])
        defer { camera.stop() }
        let url = try RTSPURL(parsing: "rtsp://cam:hunter2@127.0.0.1:\(camera.port)/h264")
        let report = CameraProbe.run(url: url, duration: .seconds(4))
        #expect(report.isReached)
        let video = try #require(report.tracks.first)
        #expect(video.description.codec.isNamed("H264"))
        #expect(video.width == 640 && video.height == 360)
        #expect(video.profile?.contains("Constrained Baseline") == true)
        #expect(video.hasBFrames == false)
        #expect(video.keyFrameInterval.map { (0.3..<0.8).contains($0) } == true)
        #expect((8.0..<25).contains(video.framesPerSecond))
        #expect(video.bitsPerSecond > 10_000)
        #expect(report.tracks.last?.description.codec.isNamed("PCMA") == true)
        #expect(report.secondsToFirstKeyFrame != nil)
        #expect(report.backChannel == nil)
        #expect(report.transport.kind == .tcp)
        #expect(!report.advice.isEmpty)
        var text = ""
        dump(report, to: &text)
        #expect(!text.contains("hunter2"))

        let wrong = CameraProbe.run(
            url: try RTSPURL(parsing: "rtsp://cam:wrong@127.0.0.1:\(camera.port)/h264"), duration: .seconds(4))
        #expect(wrong.failure == "the camera does not accept the user name and password")
        #expect(wrong.failureKind == .credentials)
    }
}
