import Cameras
import DatagramPort
import ICE
import MediaRelay
import SDP
import STUN
import Signalling
import Stations
import Transport

/// The metrics of the relay and its socket, for Prometheus.
enum RelayMetrics {
    static func families(
        relay: MediaRelay, stations: [CameraStation], transcoding budget: TranscodingBudget.Report
    ) async -> [MetricFamily] {
        let counters = await relay.counters()
        let tcp = await relay.tcpCounters() ?? TCPCounters()
        let port = relay.port.counters
        let seen = relay.reflexiveAddresses
        let flowing = stations.map { station in
            MetricFamily.Sample(station.snapshot.state == .flowing ? 1 : 0, labels: [("camera", station.id)])
        }
        let costs = stations.flatMap { station in station.transcodingCosts.map { (station.id, $0) } }
        func transcoding(_ name: String, _ help: String, _ value: (TranscodingCost) -> Double) -> MetricFamily {
            let samples = costs.map { camera, cost in
                MetricFamily.Sample(
                    value(cost), labels: [("camera", camera), ("source", cost.source), ("result", cost.result)])
            }
            return MetricFamily(name: name, help: help, kind: .counter, samples: samples)
        }
        return [
            gauge("gatehouse_relay_viewers", "Viewers whose media the relay sends.", Double(counters.viewers)),
            MetricFamily(
                name: "gatehouse_relay_viewers_by_path", help: "Viewers by how media reaches them.", kind: .gauge,
                samples: ICEPathKind.allCases.map { kind in
                    MetricFamily.Sample(Double(counters.viewersByPath[kind] ?? 0), labels: [("path", kind.rawValue)])
                }),
            MetricFamily(
                name: "gatehouse_relay_viewers_by_stream", help: "Viewers by the camera's stream that they get.",
                kind: .gauge,
                samples: [CameraStream.main, .sub].map { stream in
                    MetricFamily.Sample(
                        Double(counters.viewersByStream[stream] ?? 0), labels: [("stream", stream.rawValue)])
                }),
            gauge(
                "gatehouse_relay_viewers_limited", "Viewers whose path carries less than their stream.",
                Double(counters.viewersLimited)),
            MetricFamily(
                name: "gatehouse_relay_stream_switches_total",
                help: "How often viewers got a smaller stream because of their path, and the larger one again.",
                kind: .counter,
                samples: [
                    MetricFamily.Sample(Double(counters.streamSwitches.smaller), labels: [("to", "smaller")]),
                    MetricFamily.Sample(Double(counters.streamSwitches.larger), labels: [("to", "larger")]),
                ]),
            gauge(
                "gatehouse_relay_publishers", "Publishers whose media the relay gets.", Double(counters.publishers)),
            gauge("gatehouse_relay_ring_bytes", "Bytes of media that the rings hold.", Double(counters.ringBytes)),
            gauge(
                "gatehouse_relay_retentions", "Requests to keep more of a camera than viewers need.",
                Double(counters.retentions)),
            gauge(
                "gatehouse_relay_retentions_short",
                "Requests to keep more of a camera that get less than they ask for.",
                Double(counters.retentionsShort)),
            counter(
                "gatehouse_relay_retention_shortfalls_total",
                "How often a track could no longer be kept as long as somebody asked.",
                Double(counters.retentionShortfalls)),
            counter(
                "gatehouse_relay_packets_received_total", "RTP packets that came from cameras.",
                Double(counters.packetsReceived)),
            counter(
                "gatehouse_relay_datagrams_sent_total", "Datagrams sent to viewers.", Double(counters.datagramsSent)),
            counter(
                "gatehouse_relay_sends_total", "System calls that sent datagrams to viewers.",
                Double(counters.sendCalls)),
            counter(
                "gatehouse_relay_datagrams_refused_total", "Datagrams that could not be sent.",
                Double(counters.datagramsRefused)),
            counter(
                "gatehouse_relay_stray_datagrams_total", "Datagrams that belonged to no session.",
                Double(counters.strayDatagrams)),
            counter(
                "gatehouse_relay_contested_checks_total",
                "Connectivity checks from an address that belongs to another session.",
                Double(counters.contestedChecks)),
            counter(
                "gatehouse_relay_ignored_candidates_total",
                "Viewers' candidates that were not checked: too many, or an address that no viewer can have.",
                Double(counters.ignoredCandidates)),
            counter(
                "gatehouse_relay_postponed_checks_total",
                "Connectivity checks that waited because their principal had sent too many to silent addresses.",
                Double(counters.postponedChecks)),
            counter(
                "gatehouse_relay_early_checks_total",
                "Connectivity checks that were read before their session was added.",
                Double(counters.earlyChecks)),
            counter(
                "gatehouse_relay_handed_over_datagrams_total",
                "Datagrams that one of the relay's threads received for another.",
                Double(counters.handedOver)),
            counter(
                "gatehouse_relay_hand_over_drops_total",
                "Datagrams that were dropped because the thread that they were for did not read them in time.",
                Double(counters.handOverDrops)),
            counter(
                "gatehouse_relay_inlet_dropped_packets_total",
                "RTP packets of cameras that were dropped because the relay's thread did not read them in time.",
                Double(counters.inletDrops.packets)),
            counter(
                "gatehouse_relay_inlet_dropped_bytes_total",
                "Payload bytes of cameras' RTP packets that were dropped because the relay's thread did not read in time.",
                Double(counters.inletDrops.bytes)),
            counter("gatehouse_relay_connected_total", "Live views that connected.", Double(counters.connected)),
            gauge("gatehouse_relay_shards", "Threads that send media.", Double(relay.shardCount)),
            MetricFamily(
                name: "gatehouse_relay_processor_seconds_total", help: "Processor time of each of the relay's threads.",
                kind: .counter,
                samples: relay.processorTimes.enumerated().map { shard, time in
                    MetricFamily.Sample(time.inSeconds, labels: [("shard", "\(shard)")])
                }),
            gauge(
                "gatehouse_stun_servers", "STUN servers that are asked where they see the media port.",
                Double(seen.count)),
            gauge(
                "gatehouse_stun_servers_answering", "STUN servers that answer.",
                Double(seen.count { $0.address != nil })),
            gauge(
                "gatehouse_media_port_outside_addresses",
                "Addresses at which other networks reach the media port, from STUN servers and the router.",
                Double(relay.outsideAddresses.count)),
            gauge(
                "gatehouse_turn_allocated", "Whether a TURN server relays for the gateway.",
                relay.relayedAddresses.isEmpty ? 0 : 1),
            gauge("gatehouse_media_tcp_connections", "Viewers' connections over TCP.", Double(tcp.connections)),
            counter(
                "gatehouse_media_tcp_accepted_total", "Connections over TCP that were accepted.", Double(tcp.accepted)),
            counter(
                "gatehouse_media_tcp_refused_total",
                "Connections over TCP that were refused or closed because there were too many.", Double(tcp.refused)),
            counter(
                "gatehouse_media_tcp_strangers_closed_total",
                "Connections over TCP that were closed because they belonged to no session.",
                Double(tcp.strangersClosed)),
            counter(
                "gatehouse_media_tcp_dropped_packets_total",
                "Packets over TCP that were dropped because the viewer did not read.", Double(tcp.packetsDropped)),
            counter(
                "gatehouse_media_port_datagrams_received_total", "Datagrams that the media port received.",
                Double(port.datagramsReceived)),
            counter(
                "gatehouse_media_port_receive_drops_total", "Datagrams that the kernel dropped before they were read.",
                Double(port.receiveBufferDrops)),
            transcoding(
                "gatehouse_transcoding_processor_seconds_total",
                "Processor time spent on transcoding."
            ) { $0.processorTime.inSeconds },
            transcoding(
                "gatehouse_transcoding_skipped_total",
                "Pictures that were decoded but skipped because newer ones were waiting."
            ) { Double($0.skipped) },
            transcoding(
                "gatehouse_transcoding_failures_total", "Packets or pictures of a camera that could not be decoded."
            ) { Double($0.failures) },
            gauge(
                "gatehouse_transcoding_capacity_cores", "Processor cores that transcoding may use.",
                budget.capacity),
            gauge(
                "gatehouse_transcoding_used_cores", "Processor cores that transcoding is expected to use.",
                budget.used),
            gauge(
                "gatehouse_transcoding_limited",
                "Cameras whose pictures are made smaller because there is too little processor time.",
                Double(budget.limited)),
            counter(
                "gatehouse_transcoding_refused_total",
                "Views that were refused because there is too little processor time.",
                Double(budget.refused)),
            MetricFamily(
                name: "gatehouse_camera_flowing", help: "Whether a camera delivers media.", kind: .gauge,
                samples: flowing),
        ]
    }

    private static func gauge(_ name: String, _ help: String, _ value: Double) -> MetricFamily {
        MetricFamily(name: name, help: help, kind: .gauge, samples: [MetricFamily.Sample(value)])
    }

    private static func counter(_ name: String, _ help: String, _ value: Double) -> MetricFamily {
        MetricFamily(name: name, help: help, kind: .counter, samples: [MetricFamily.Sample(value)])
    }
}
