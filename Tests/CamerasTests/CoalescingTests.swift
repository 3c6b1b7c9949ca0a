import PacketFakes
import RTP
import RTSP
import Testing

@testable import Cameras

/// Sources read late while nobody watches. Here the time for that is years, so anything that arrives has another cause.
/// A stream that an ONVIF camera names is read in the same way.
@Suite(.timeLimit(.minutes(10))) struct CoalescingTests {
    /// How the camera is named.
    enum Naming: CaseIterable {
        case rtsp, onvif
    }

    /// A source that coalesces, and its camera, which has sent one key frame.
    private struct World {
        let server: TestCameraServer
        let sink = RecordingSink()
        let source: any CameraSource
        private let device: CameraSimulator?

        init(_ naming: Naming) async throws {
            let server = try TestCameraServer(.good(media: { _ in [RTSPSourceTests.video(1, frame: 0, key: true)] }))
            var configuration = RTSPSource.Configuration()
            configuration.stallTimeout = .seconds(3_600)
            configuration.reportInterval = .seconds(3_600)
            configuration.keepAlive = .nothing
            // Longer than the machine has run: reads are at multiples of it.
            configuration.coalescingTime = .seconds(100 * 365 * 86_400)
            self.server = server
            let address = "rtsp://127.0.0.1:\(server.port)/live"
            switch naming {
            case .rtsp:
                device = nil
                source = try RTSPSource(address: address, configuration: configuration)
            case .onvif:
                let device = try ONVIFSourceTests.device { address }
                self.device = device
                source = try ONVIFSource(address: "onvif://127.0.0.1:\(device.port)") { [configuration] url in
                    RTSPSource(url: url, configuration: configuration)
                }
            }
            source.setCoalescing(true)
            source.start(sink: sink)
            _ = await sink.take { $0.hasPackets }
            // The first packet has been handed out, so the source coalesces before it looks at this.
            source.requestKeyFrame(track: 0)
            for await note in server.notes {
                if case .packet(channel: 1, _) = note { break }
            }
        }

        func end() {
            source.stop()
            server.stop()
            device?.stop()
        }
    }

    @Test(arguments: Naming.allCases) func whatWaitsIsHandedOutAtOnceWhenSomebodyWatches(naming: Naming) async throws {
        let world = try await World(naming)
        defer { world.end() }
        world.server.send(RTSPSourceTests.video(2, frame: 1) + RTSPSourceTests.video(3, frame: 2))
        world.source.setCoalescing(false)
        let items = await world.sink.take { item in
            [item].packets(ofTrack: 0).last?.timestamp == 12_000
        }
        #expect(items.packets(ofTrack: 0).map(\.timestamp) == [6_000, 12_000])
        // And from then on.
        world.server.send(RTSPSourceTests.video(4, frame: 3))
        _ = await world.sink.take { [$0].packets(ofTrack: 0).last?.timestamp == 18_000 }
    }

    @Test(arguments: Naming.allCases) func aLargeFrameIsReadWhileItComes(naming: Naming) async throws {
        let world = try await World(naming)
        defer { world.end() }
        let packets = (0..<80).map { index in
            interleaved(
                0,
                rtpPacket(
                    2 + index, timestamp: 6_000, marker: index == 79, ssrc: 7,
                    [index == 0 ? 0x10 : 0, 0] + [UInt8](repeating: 1, count: 1_000)))
        }
        world.server.send(Array(packets.joined()))
        let items = await world.sink.take { $0.hasPackets }
        #expect(!items.packets(ofTrack: 0).isEmpty)
    }

    @Test(arguments: Naming.allCases) func aCameraThatGoesIsNoticedAtOnce(naming: Naming) async throws {
        let world = try await World(naming)
        defer { world.end() }
        world.server.hangUp()
        _ = await world.sink.take(until: \.isBackingOff)
    }
}

extension RecordingSink.Item {
    fileprivate var hasPackets: Bool {
        if case .packets = self { true } else { false }
    }
}
