import Cameras
import DatagramPort
import MediaRelay
import Signalling
import Transport

/// What Prometheus is told of the relay and its socket.
enum RelayMetrics {
    static func families(relay: MediaRelay, stations: [CameraStation]) async -> [MetricFamily] {
        let counters = await relay.counters()
        let port = relay.port.counters
        let flowing = stations.map { station in
            MetricFamily.Sample(station.snapshot.state == .flowing ? 1 : 0, labels: [("camera", station.id)])
        }
        return [
            gauge("gatehouse_relay_viewers", "Viewers whose media the relay sends.", Double(counters.viewers)),
            gauge("gatehouse_relay_ring_bytes", "Bytes of media that the rings hold.", Double(counters.ringBytes)),
            counter(
                "gatehouse_relay_packets_received_total", "RTP packets that came from cameras.",
                Double(counters.packetsReceived)),
            counter(
                "gatehouse_relay_datagrams_sent_total", "Datagrams sent to viewers.", Double(counters.datagramsSent)),
            counter("gatehouse_relay_sends_total", "System calls that sent them.", Double(counters.sendCalls)),
            counter(
                "gatehouse_relay_datagrams_refused_total", "Datagrams that could not be sent.",
                Double(counters.datagramsRefused)),
            counter(
                "gatehouse_relay_stray_datagrams_total", "Datagrams that belonged to no session.",
                Double(counters.strayDatagrams)),
            counter("gatehouse_relay_connected_total", "Live views that connected.", Double(counters.connected)),
            counter(
                "gatehouse_relay_processor_seconds_total", "Processor time of the relay's thread.",
                relay.processorTime.inSeconds),
            counter(
                "gatehouse_media_port_datagrams_received_total", "Datagrams that the media port received.",
                Double(port.datagramsReceived)),
            counter(
                "gatehouse_media_port_receive_drops_total", "Datagrams that the kernel dropped before they were read.",
                Double(port.receiveBufferDrops)),
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
