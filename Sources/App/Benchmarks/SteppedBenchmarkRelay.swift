import DatagramPort
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

extension UDPPort {
    /// A port on 127.0.0.1 that the kernel chooses.
    static func benchmark() throws -> UDPPort {
        var configuration = UDPPort.Configuration.loopback()
        configuration.ipv6Address = nil
        return try UDPPort(configuration)
    }
}

/// A relay with one track, on its caller's thread.
final class SteppedBenchmarkRelay: ConnectableRelay {
    let track = TrackID(camera: "benchmark", index: 0)
    let shard: SteppedRelay
    let inlet: TrackInlet
    let address: TransportAddress

    init(drain: DrainingPort) throws {
        let port = try UDPPort.benchmark()
        address = TransportAddress(ipv4: 0x7F00_0001, port: port.localPort)
        shard = SteppedRelay(port: DrainedSender(port: port, drain: drain), at: MonotonicClock.now)
        inlet = shard.addTrack(track, .benchmark, at: MonotonicClock.now)
    }

    func addViewer(_ configuration: ViewerConfiguration, at now: Instant) -> ViewerStatus {
        shard.addViewer(configuration, at: now)
    }

    func deliver(_ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, at now: Instant) {
        shard.handle(datagram, from: source, to: address, at: now)
    }
}
