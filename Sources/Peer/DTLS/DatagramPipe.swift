import COpenSSL
import Glibc

/// One connection's network as OpenSSL sees it: the datagram that is being handled, and the records that wait to be
/// sent. The callbacks of the connection also find their state here.
///
/// It is a custom BIO instead of OpenSSL's memory BIO. The received datagram is read in place, its bounds are kept, and
/// OpenSSL's retransmission timer can be controlled from outside (``expireTimer()``).
final class DatagramPipe {
    let maximumDatagramSize: Int
    let remoteFingerprints: [DTLSFingerprint]

    /// Whether the peer has presented a certificate that its session description names.
    var isFingerprintVerified = false
    /// The datagram that is being handled; set during one call only.
    var input: UnsafeRawBufferPointer?
    /// Whole records, to be cut into datagrams.
    private(set) var output: [UInt8] = []
    /// How much of `output` has been sent.
    private var outputStart = 0
    /// Set whenever OpenSSL starts the timer of a flight.
    var hasTimerStarted = false

    private var openSSLTimer: UnsafeMutablePointer<timeval>?

    init(maximumDatagramSize: Int, remoteFingerprints: [DTLSFingerprint]) {
        self.maximumDatagramSize = maximumDatagramSize
        self.remoteFingerprints = remoteFingerprints
    }

    /// How many bytes wait to be sent.
    var pendingOutput: Int { output.count - outputStart }

    /// Appends whole records.
    func append(_ records: UnsafeRawBufferPointer) {
        output.append(contentsOf: records)
    }

    /// The bytes written since ``pendingOutput`` was `count`.
    func output(after count: Int) -> [UInt8] {
        Array(output[min(outputStart + count, output.count)...])
    }

    /// Drops the waiting records.
    func discardOutput() {
        output = []
        outputStart = 0
    }

    /// Moves the records of one datagram into `datagram`; nil when nothing waits.
    func takeDatagram(into datagram: UnsafeMutableRawBufferPointer) -> Int? {
        let limit = min(datagram.count, maximumDatagramSize)
        let count = output.withUnsafeBytes { bytes -> Int in
            var end = outputStart
            while let header = DTLSRecordHeader(UnsafeRawBufferPointer(rebasing: bytes[end...])) {
                guard end + header.totalLength - outputStart <= limit else { break }
                end += header.totalLength
            }
            let records = UnsafeRawBufferPointer(rebasing: bytes[outputStart..<end])
            datagram.copyMemory(from: records)
            return records.count
        }
        outputStart += count
        // A record that does not fit cannot be sent at all. OpenSSL knows the size and makes none that is larger. But a
        // caller with a shorter buffer must not be called forever.
        if count == 0 || outputStart == output.count { discardOutput() }
        return count == 0 ? nil : count
    }
}

extension DatagramPipe {
    /// The pipe that a connection was given.
    static func of(connection: OpaquePointer) -> DatagramPipe? {
        of(SSL_get_rbio(connection))
    }

    /// Makes the BIO for OpenSSL; the pipe must outlive it.
    func makeBIO() -> OpaquePointer? {
        guard let bio = BIO_new(PipeMethod.shared.method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    fileprivate static func of(_ bio: OpaquePointer?) -> DatagramPipe? {
        guard let bio, let data = BIO_get_data(bio) else { return nil }
        return Unmanaged<DatagramPipe>.fromOpaque(data).takeUnretainedValue()
    }
}

// MARK: - Time

extension DatagramPipe {
    /// Whether OpenSSL's timer can be controlled.
    ///
    /// OpenSSL measures its retransmission timer by the wall clock, but a state machine here gets the time from its
    /// caller. OpenSSL 3.0 and 3.1 announce the timer to the BIO by the address of the connection's own `timeval`,
    /// which stays valid as long as the connection exists. So the timer starts with more than an hour to go, which it
    /// never reaches by itself, and moves into the past when the machine's own deadline has come. From 3.2 on, the
    /// address is that of a copy on the stack and must not be kept. There the timer runs by the wall clock at the
    /// machine's pace.
    static let rulesOpenSSLTimer = (0x3000_0000..<0x3020_0000).contains(OpenSSL_version_num())

    /// Makes the running timer, if any, appear expired.
    func expireTimer() {
        guard let openSSLTimer, openSSLTimer.pointee.tv_sec != 0 else { return }
        openSSLTimer.pointee = timeval(tv_sec: 1, tv_usec: 0)
    }

    fileprivate func recordTimer(_ timer: UnsafeMutableRawPointer?) {
        guard let timer = timer?.assumingMemoryBound(to: timeval.self) else { return }
        if timer.pointee.tv_sec != 0 { hasTimerStarted = true }
        if Self.rulesOpenSSLTimer { openSSLTimer = timer }
    }
}

// MARK: - The BIO's functions

private struct PipeMethod: @unchecked Sendable {
    // Proof for @unchecked: the table of functions is filled in before it is shared, and is never changed or freed.
    static let shared = PipeMethod()

    let method: OpaquePointer?

    private init() {
        method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagram pipe")
        BIO_meth_set_write(method) { bio, bytes, count in
            guard let pipe = DatagramPipe.of(bio), let bytes, count > 0 else { return -1 }
            pipe.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        BIO_meth_set_read(method) { bio, bytes, count in
            BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
            guard let pipe = DatagramPipe.of(bio), let bytes, count > 0 else { return -1 }
            guard let input = pipe.input, let source = input.baseAddress else {
                BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
                return -1
            }
            // As with a socket, a read consumes the whole datagram, and bytes that do not fit are lost.
            pipe.input = nil
            let length = min(Int(count), input.count)
            UnsafeMutableRawPointer(bytes).copyMemory(from: source, byteCount: length)
            return Int32(truncatingIfNeeded: length)
        }
        BIO_meth_set_ctrl(method) { bio, command, _, argument in
            guard let pipe = DatagramPipe.of(bio) else { return 0 }
            switch command {
            case BIO_CTRL_FLUSH: return 1
            case BIO_CTRL_DGRAM_QUERY_MTU, BIO_CTRL_DGRAM_GET_FALLBACK_MTU: return pipe.maximumDatagramSize
            case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT:
                pipe.recordTimer(argument)
                return 1
            default: return 0
            }
        }
    }
}
