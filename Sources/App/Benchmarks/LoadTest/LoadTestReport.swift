/// The result of a load test.
public struct LoadTestReport: Codable, Hashable, Sendable {
    /// The distribution of a measured value, in milliseconds.
    public struct Percentiles: Codable, Hashable, Sendable {
        /// How many samples there were.
        public var samples: Int
        public var p50: Double
        public var p95: Double
        public var p99: Double

        /// The distribution of `values`; nil if there are none.
        init?(_ values: [Double]) {
            guard let middle = values.percentile(0.5), let high = values.percentile(0.95),
                let highest = values.percentile(0.99)
            else { return nil }
            samples = values.count
            p50 = middle
            p95 = high
            p99 = highest
        }
    }

    /// Processor microseconds of some of the server's threads for each packet and viewer.
    public struct Threads: Codable, Hashable, Sendable {
        /// The beginning of their names, or `rest`.
        public var name: String
        public var userMicroseconds: Double
        public var systemMicroseconds: Double
    }

    /// What the server used while all viewers were connected.
    public struct Server: Codable, Hashable, Sendable {
        /// Processor microseconds for each packet and viewer, including all threads and the kernel's share.
        public var microsecondsPerPacketViewer: Double
        /// The same for each kind of thread, in user and in system mode. Threads that end meanwhile are missing here.
        public var threads: [Threads]
        /// The part of ``microsecondsPerPacketViewer`` in user mode.
        public var userMicrosecondsPerPacketViewer: Double
        /// The kernel's part of it. On loopback that goes as far as the receiver's socket.
        public var systemMicrosecondsPerPacketViewer: Double
        /// The share of one core.
        public var coreShare: Double
        /// Resident bytes before the first viewer.
        public var residentBytesBefore: Int
        /// Growth of resident memory for each viewer.
        public var residentBytesPerViewer: Int
        /// Growth of the proportional share for each viewer, where the kernel reports it.
        public var proportionalBytesPerViewer: Int?
    }

    /// The server's addresses.
    public var urls: [String]
    /// How many viewers were asked for.
    public var viewers: Int
    /// How many of them got media.
    public var playing: Int
    /// How many could not be started or ended early, with the first reason.
    public var failed: Int
    public var firstFailure: String?
    /// The length of the measured time in seconds, from the last start on.
    public var seconds: Double
    /// RTP packets received in that time.
    public var packets: UInt64
    /// Payload bits a second for each viewer.
    public var bitsPerSecondPerViewer: Double
    /// Packets that never arrived, since the start.
    public var lost: UInt64
    /// The share of them.
    public var lossShare: Double
    /// From the time that the sender's reports give for a picture to the arrival of its last packet.
    public var latency: Percentiles?
    /// From the POST to the answer.
    public var answer: Percentiles?
    /// From the POST to the end of the DTLS handshake.
    public var connected: Percentiles?
    /// From the POST to the first packet.
    public var firstPacket: Percentiles?
    /// From the POST to the first whole key frame.
    public var firstKeyFrame: Percentiles?
    /// From the POST to the moment from which on no frame waits behind others; nil unless the test awaits it.
    public var livePicture: Percentiles?
    /// Nil when no process was named.
    public var server: Server?
}
