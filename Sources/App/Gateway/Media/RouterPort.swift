import DatagramPort
import LocalNetwork
import Logging
import MediaRelay
import PortMapping
import Transport

extension PortMappingService {
    /// Lets the router forward the media port, and the TCP port of media, if the config wants it. Without it everything else
    /// works, so a failure is only logged.
    static func make(
        _ configuration: GatewayConfiguration, relay: MediaRelay, logger: Logger
    ) -> PortMappingService? {
        guard configuration.network.mapsPort else { return nil }
        let last = Locked(PortMappings())
        do throws(SystemCallError) {
            let changed: @Sendable (PortMappings) -> Void = { mappings in
                relay.setMappedAddresses([mappings.media.external].compactMap { $0 })
                let previous = last.withLock { last in
                    defer { last = mappings }
                    return last
                }
                // The thread must not wait for the log.
                Task {
                    log(mappings.media, after: previous.media, .udp, logger)
                    if let tcp = mappings.tcp { log(tcp, after: previous.tcp ?? PortMapping(), .tcp, logger) }
                    log(pinhole: mappings.pinhole, after: previous.pinhole, .udp, logger)
                    if let tcp = mappings.tcpPinhole {
                        log(pinhole: tcp, after: previous.tcpPinhole ?? PortMapping(), .tcp, logger)
                    }
                }
            }
            return try PortMappingService(
                mediaPort: relay.port.localPort, tcpPort: relay.tcpPort, changed: changed)
        } catch {
            logger.warning("the router is not asked to forward the media port", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Where the router forwards to the TCP port of media from; empty while it does not.
    var tcpAddresses: [TransportAddress] { [mappings.tcp?.external].compactMap { $0 } }

    private static func log(
        _ mapping: PortMapping, after previous: PortMapping, _ transport: MappedTransport, _ logger: Logger
    ) {
        guard let router = mapping.router?.host else { return }
        if let external = mapping.external, external != previous.external {
            logger.notice(
                "the router forwards the media port",
                metadata: [
                    "router": "\(router)", "address": "\(external)", "transport": "\(transport.rawValue)",
                    "protocol": "\(mapping.method.rawValue)",
                ])
        }
        if let failure = mapping.failure, failure != previous.failure {
            logger.warning(
                "the router does not forward the media port; it is asked again later",
                metadata: [
                    "router": "\(router)", "transport": "\(transport.rawValue)", "reason": "it \(failure)",
                ])
        }
    }

    /// The outside address is the host's own, which is a candidate anyway. A router that opens nothing may have no firewall, so
    /// only the doctor speaks of that.
    private static func log(
        pinhole: PortMapping, after previous: PortMapping, _ transport: MappedTransport, _ logger: Logger
    ) {
        guard let router = pinhole.router?.host, let external = pinhole.external, external != previous.external else {
            return
        }
        logger.notice(
            "the router lets the media port through its IPv6 firewall",
            metadata: [
                "router": "\(router)", "address": "\(external)", "transport": "\(transport.rawValue)",
                "protocol": "\(pinhole.method.rawValue)",
            ])
    }

    /// The metrics of the mapping, for Prometheus.
    var metrics: [MetricFamily] {
        [
            MetricFamily(
                name: "gatehouse_port_mapped", help: "Whether the router forwards a port to the media port.",
                kind: .gauge,
                samples: [MetricFamily.Sample(mappings.media.external == nil ? 0 : 1)])
        ]
    }
}
