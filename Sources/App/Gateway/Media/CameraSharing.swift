import Cameras
import DatagramPort
import HomeHub
import Logging
import MediaRelay
import PushAvStreamTransport
import RTSP
import RTSPServer
import Signalling
import Stations
import Transport

/// Serves the cameras to other programs by RTSP, as far as the config asks for it.
struct CameraSharing: Sendable {
    private let server: RTSPServer
    private let names: DeviceNames
    private let access: SharingAccess

    /// Starts the server; nil if the config has no section `rtsp`.
    ///
    /// The password is any of the gateway's tokens, under any user name. The server needs it in plain text for Digest,
    /// and the store keeps tokens in plain text for the command line anyway.
    static func make(
        configuration: GatewayConfiguration, tokens: TokenStore, relay: MediaRelay, shared: ConnectionGuard,
        names: DeviceNames, publishers: PublisherAccess, gate: PublishingGate, logger: Logger
    ) throws -> CameraSharing? {
        guard let section = configuration.rtsp else { return nil }
        var authentication = RTSPAuthentication(principals: tokens.holders)
        let access = SharingAccess()
        authentication.addressPrincipal = { token, path in
            // Such a token permits only watching what a camera shows now.
            RTSPServer.isFootage(path) ? nil : access.principal(token, names.id(of: path))
        }
        authentication.addressPublisher = { token, path in
            switch publishers.judge(token: token, device: names.id(of: path)) {
            case .accepted(let principal): .accepted(principal: principal)
            case .forbidden(let fault): .forbidden(fault)
            case .unknown: .unknown
            }
        }
        guard
            var settings = RTSPServerConfiguration(
                host: section.host, port: UInt16(clamping: section.port), authentication: authentication)
        else {
            throw GatewayService.StartFailure(
                description: "rtsp.host: \(section.host) is not an address to listen on; use 127.0.0.1, for example")
        }
        let shares = PlaceShares(total: RTSPServerConfiguration.maximumReaders)
        settings.admitsReader = { shares.refusal(of: $0, holders: $1) == nil }
        settings.publishing = gate
        let server: RTSPServer
        do throws(SystemCallError) {
            server = try RTSPServer(
                settings, relay: relay, connections: shared.connections,
                report: { Self.take($0, refusals: shared.refusals, logger: logger) })
        } catch {
            throw GatewayService.StartFailure.starting(
                on: "\(section.host):\(section.port)", section: "rtsp", error)
        }
        if let failure = server.udpFailure {
            logger.warning(
                "RTSP readers get media only over TCP, because the UDP ports cannot be opened",
                metadata: ["reason": "\(failure)"])
        }
        logger.notice("cameras are shared by RTSP", metadata: ["rtsp": "\(section.host):\(server.port)"])
        return CameraSharing(server: server, names: names, access: access)
    }

    /// Shares these cameras from now on, under their keys and identifiers. A camera that is pulled on demand is pulled for readers.
    func share(_ cameras: [(station: CameraStation, name: String)]) {
        server.setCameras(cameras.map { ServedCamera($0.station, key: names.key(of: $0.station.id), name: $0.name) })
    }

    /// Accepts tokens in addresses from now on: `principal` is the holder of one that may watch a device.
    func share(accepting principal: @escaping @Sendable (_ token: String, _ device: String) -> String?) {
        access.set(principal)
    }

    /// Ends the readers of a principal whose camera it may no longer watch.
    func endReaders(of principal: String, unless mayWatch: @escaping @Sendable (_ device: String) -> Bool) {
        server.endReaders(of: principal, unless: mayWatch)
    }

    /// Plays recorded footage from here from now on.
    func share(
        recordings store: any RecordingReading, recovery: RecordingRecovery,
        permits: @escaping @Sendable (String) async -> OutputPermits?
    ) {
        server.setFootage(
            FootageSource(
                store: store, recovery: recovery, permits: permits, device: { [names] in names.id(of: $0) }))
    }

    /// Ends every reader, with RTCP BYE.
    func stop() {
        server.stop()
    }

    /// The metrics for Prometheus.
    func metrics() async -> [MetricFamily] {
        let counters = await server.counters()
        func samples(_ counts: [String: Int]) -> [MetricFamily.Sample] {
            counts.sorted { $0.key < $1.key }.map { camera, count in
                MetricFamily.Sample(Double(count), labels: [("camera", camera)])
            }
        }
        let (readers, publishers) = (samples(counters.readers), samples(counters.publishers))
        func counter(_ name: String, _ help: String, _ value: UInt64) -> MetricFamily {
            MetricFamily(name: name, help: help, kind: .counter, samples: [.init(Double(value))])
        }
        return [
            MetricFamily(
                name: "gatehouse_rtsp_connections", help: "Connections to the RTSP server.", kind: .gauge,
                samples: [.init(Double(counters.connections))]),
            MetricFamily(
                name: "gatehouse_rtsp_readers", help: "Programs that play a camera by RTSP.", kind: .gauge,
                samples: readers),
            MetricFamily(
                name: "gatehouse_rtsp_publishers", help: "Programs that publish a camera by RTSP.", kind: .gauge,
                samples: publishers),
            MetricFamily(
                name: "gatehouse_rtsp_playbacks", help: "Programs that play recorded footage by RTSP.", kind: .gauge,
                samples: [.init(Double(counters.playbacks))]),
            counter(
                "gatehouse_rtsp_readers_started_total", "Programs that began to play a camera.",
                counters.readersStarted),
            counter(
                "gatehouse_rtsp_publishers_started_total", "Programs that began to publish a camera.",
                counters.publishersStarted),
            counter(
                "gatehouse_rtsp_packets_received_total", "RTP packets received from publishers.",
                counters.packetsReceived),
            counter(
                "gatehouse_rtsp_bytes_received_total", "Bytes of RTP packets received from publishers.",
                counters.bytesReceived),
            counter("gatehouse_rtsp_packets_sent_total", "RTP packets sent to RTSP readers.", counters.packetsSent),
            counter(
                "gatehouse_rtsp_bytes_sent_total", "Bytes of RTP packets sent to RTSP readers.", counters.bytesSent),
            counter(
                "gatehouse_rtsp_frames_dropped_total", "Frames left out for readers that were too slow.",
                counters.framesDropped),
            counter(
                "gatehouse_rtsp_refused_credentials_total", "Wrong passwords at the RTSP server.",
                counters.refusedCredentials),
            counter(
                "gatehouse_rtsp_connections_refused_total",
                "Connections that were refused because there were too many.",
                counters.connectionsRefused),
            counter(
                "gatehouse_rtsp_datagrams_refused_total", "Datagrams that could not be sent.",
                counters.datagramsRefused),
            counter(
                "gatehouse_rtsp_inbox_dropped_packets_total",
                "RTP packets for RTSP readers that were dropped because the server's thread did not read them in time.",
                counters.inboxPacketsDropped),
            counter(
                "gatehouse_rtsp_inbox_dropped_bytes_total",
                "Payload bytes of packets for RTSP readers that the server's thread did not read in time.",
                counters.inboxBytesDropped),
            MetricFamily(
                name: "gatehouse_rtsp_processor_seconds_total", help: "Processor time of the RTSP server's thread.",
                kind: .counter, samples: [.init(server.processorTime.inSeconds)]),
        ]
    }

    private static func take(_ news: RTSPServerNews, refusals: SignInRefusals, logger: Logger) {
        switch news {
        case .started(let camera, let host, let agent, let overUDP):
            logger.info(
                "RTSP reader started",
                metadata: [
                    "camera": "\(camera)", "address": "\(host)", "program": "\(agent)",
                    "transport": "\(overUDP ? "UDP" : "TCP")",
                ])
        case .ended(let camera, let host, let end, let packets, let dropped):
            logger.info(
                "RTSP reader ended",
                metadata: [
                    "camera": "\(camera)", "address": "\(host)", "reason": "\(end.words)", "packets": "\(packets)",
                    "framesDropped": "\(dropped)",
                ])
        case .publishing(let camera, let host, let agent, let overUDP, let leftOut):
            logger.info(
                "RTSP publisher connected",
                metadata: [
                    "camera": "\(camera)", "address": "\(host)", "program": "\(agent)",
                    "transport": "\(overUDP ? "UDP" : "TCP")",
                    "leftOut": "\(RTSPServerNews.logged(leftOut: leftOut))",
                ])
        case .refusedPublisher(let camera, let host, let refusal, let count):
            logger.info(
                "RTSP publisher refused",
                metadata: [
                    "camera": "\(camera)", "address": "\(host)", "reason": "\(refusal.logged)", "count": "\(count)",
                ])
        case .refused(let host):
            refusals.record(host, at: .rtsp)
        case .refusedConnection(let host, let total):
            logger.warning(
                "RTSP connections are refused, because there are too many",
                metadata: ["address": "\(host)", "refused": "\(total)"])
        }
    }
}

/// Who holds a token that is in an address. The tokens are read after the server has begun to listen.
final class SharingAccess: Sendable {
    private let judge = Locked<(@Sendable (_ token: String, _ device: String) -> String?)?>(nil)

    func set(_ judge: @escaping @Sendable (_ token: String, _ device: String) -> String?) {
        self.judge.withLock { $0 = judge }
    }

    func principal(_ token: String, _ device: String) -> String? { judge.withLock { $0 }?(token, device) }
}
