import DatagramPort
import ICE
import MediaRelay
import SDP
import Transport

extension RelayTrackDescription {
    /// A video track whose source accepts no requests.
    static var benchmark: RelayTrackDescription {
        RelayTrackDescription(
            isVideo: true, codec: MediaCodec(name: "VP8", clockRate: 90_000), requestKeyFrame: {})
    }
}

extension UDPPort.Configuration {
    /// A port on 127.0.0.1 that the kernel chooses.
    static var benchmark: UDPPort.Configuration {
        var configuration = UDPPort.Configuration.loopback()
        configuration.ipv6Address = nil
        return configuration
    }
}

/// A shard of a relay with a track for each camera, on its caller's thread.
final class SteppedBenchmarkRelay: ConnectableRelay {
    let shard: SteppedRelay
    /// Where the batches of each camera go in.
    let inlets: [TrackInlet]
    let address: TransportAddress

    /// The only shard of a relay with `cameras` cameras.
    init(drain: DrainingPort, cameras: Int = 1) throws {
        let port = try UDPPort(.benchmark)
        address = TransportAddress(ipv4: 0x7F00_0001, port: port.localPort)
        let shard = SteppedRelay(port: DrainedSender(port: port, drain: drain), at: MonotonicClock.now)
        self.shard = shard
        inlets = (0..<cameras).map {
            shard.addTrack(SteppedBenchmarkRelay.track(of: $0), .benchmark, at: MonotonicClock.now)
        }
    }

    /// Shard number `shard` of a group that has the first camera's track.
    init(drain: DrainingPort, group: SteppedRelayGroup, shard: Int, inlet: TrackInlet) throws {
        let port = try UDPPort(.benchmark)
        address = TransportAddress(ipv4: 0x7F00_0001, port: port.localPort)
        self.shard = SteppedRelay(
            shard, of: group, port: DrainedSender(port: port, drain: drain), at: MonotonicClock.now)
        inlets = [inlet]
    }

    /// The track of camera `number`, from 0.
    static func track(of number: Int) -> TrackID { TrackID(camera: "camera \(number)", index: 0) }

    /// Adds the first camera's track to a group.
    static func makeTrack(of group: SteppedRelayGroup) throws -> TrackInlet {
        guard let inlet = group.setTracks(camera: track(of: 0).camera, [.benchmark]).first else {
            throw BenchmarkFailure("the relay did not make an inlet")
        }
        return inlet
    }

    func credentials(using random: inout RandomSource) -> ICECredentials { shard.credentials(using: &random) }

    func addViewer(_ configuration: ViewerConfiguration, at now: Instant) -> SessionStatus {
        shard.addViewer(configuration, at: now)
    }

    func deliver(_ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, at now: Instant) {
        shard.handle(datagram, from: source, to: address, at: now)
    }
}
