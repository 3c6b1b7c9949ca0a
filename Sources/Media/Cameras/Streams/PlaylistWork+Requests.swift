import DatagramPort
import HTTPMedia
import StreamFormats
import Transport

extension PlaylistWork {
    /// What takes the content of a file.
    typealias Body = (UnsafeRawBufferPointer) throws(CameraFailure) -> Void

    /// Requests a file or a part of one that a playlist names, decrypts it, and passes its content to `body`.
    /// - Parameter place: the address of the playlist.
    mutating func fetch(
        _ resource: StreamPlaylist.Resource, _ encryption: StreamPlaylist.Encryption?, in place: HTTPAddress,
        limit: Int, within timeout: Duration, _ body: Body
    ) throws(CameraFailure) {
        let address = try resolve(resource.address, in: place)
        guard let encryption else {
            _ = try fetch(address, bytes: resource.bytes, limit: limit, within: timeout, body)
            return
        }
        let key = try key(of: encryption, in: place)
        guard var cipher = SegmentCipher(key: key, initializationVector: encryption.initializationVector) else {
            throw .stream(.format(.damaged("the key of the stream has \(key.count) bytes instead of 16")))
        }
        _ = try fetch(address, bytes: resource.bytes, limit: limit, within: timeout) { bytes throws(CameraFailure) in
            try Self.withBytes(of: cipher.decrypt(bytes), body)
        }
        guard let rest = cipher.finish() else {
            throw .stream(.format(.damaged("a segment cannot be decrypted with the key that the playlist names")))
        }
        try Self.withBytes(of: rest, body)
    }

    /// The key, which is requested once for all segments in a row that have it.
    private mutating func key(
        of encryption: StreamPlaylist.Encryption, in place: HTTPAddress
    ) throws(CameraFailure) -> [UInt8] {
        let address = try resolve(encryption.keyAddress, in: place)
        if let newestKey, newestKey.address == address { return newestKey.bytes }
        var bytes: [UInt8] = []
        _ = try fetch(
            address, limit: SegmentCipher.keyLength * 4, within: Self.answerTimeout
        ) { content throws(CameraFailure) in bytes.append(contentsOf: content) }
        newestKey = (address, bytes)
        return bytes
    }

    /// Requests a file, or a part of one, and passes its content to `body`.
    /// - Returns: where it came from, after redirections.
    mutating func fetch(
        _ address: HTTPAddress, bytes: Range<Int64>? = nil, limit: Int, within timeout: Duration, _ body: Body
    ) throws(CameraFailure) -> HTTPAddress {
        let deadline = MonotonicClock.now + timeout
        switch client.request(address, bytes: bytes, until: deadline, random: &random, connecting: {}) {
        case .stopped, .abandoned: throw .connectionClosed
        case .failed(let reason): throw reason
        case .answered(let response):
            var window = try ContentWindow(bytes, of: response.head)
            var count = 0
            var isOpen = true
            while isOpen, !window.isComplete {
                var pieces: [[UInt8]] = []
                isOpen = try response.receiveContent(until: deadline) { pieces.append(Array($0)) }
                for piece in pieces {
                    count += piece.count
                    guard count <= limit else { throw .stream(.tooLarge) }
                    try Self.withBytes(of: piece[window.take(piece.count)], body)
                }
            }
            guard bytes == nil || window.isComplete else {
                throw .stream(.format(.damaged("a file is shorter than the playlist says")))
            }
            return response.address ?? address
        }
    }

    private static func withBytes(of piece: some Collection<UInt8>, _ body: Body) throws(CameraFailure) {
        guard !piece.isEmpty else { return }
        try Array(piece).withUnsafeBufferPointer { (bytes: UnsafeBufferPointer<UInt8>) throws(CameraFailure) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}
