import DatagramPort
import HTTPMedia
import StreamFormats
import Transport

extension PlaylistWork {
    /// What takes the content of a file.
    typealias Body = (UnsafeRawBufferPointer) throws(CameraFailure) -> Void

    /// A stream has two playlists at most, and each may name the parts of a file.
    private static var maximumOpenFiles: Int { 2 }

    /// Requests a file or a part of one that a playlist names, decrypts it, and passes its content to `body`.
    /// - Parameter place: where the playlist came from.
    mutating func fetch(
        _ resource: StreamPlaylist.Resource, _ encryption: StreamPlaylist.Encryption?, in place: RequestPlace,
        limit: Int, within timeout: Duration, _ body: Body
    ) throws(CameraFailure) {
        let target = try place.following(resource.address, from: client.home)
        guard let encryption else {
            _ = try fetch(target, bytes: resource.bytes, limit: limit, within: timeout, body)
            return
        }
        let key = try key(of: encryption, in: place)
        guard var cipher = SegmentCipher(key: key, initializationVector: encryption.initializationVector) else {
            throw .stream(.format(.damaged(.keyLength(key.count))))
        }
        _ = try fetch(target, bytes: resource.bytes, limit: limit, within: timeout) { bytes throws(CameraFailure) in
            try Self.withBytes(of: cipher.decrypt(bytes), body)
        }
        guard let rest = cipher.finish() else {
            throw .stream(.format(.damaged(.undecryptableSegment)))
        }
        try Self.withBytes(of: rest, body)
    }

    /// The key, which is requested once for all segments in a row that have it.
    private mutating func key(
        of encryption: StreamPlaylist.Encryption, in place: RequestPlace
    ) throws(CameraFailure) -> [UInt8] {
        let target = try place.following(encryption.keyAddress, from: client.home)
        if let newestKey, newestKey.place == target { return newestKey.bytes }
        var bytes: [UInt8] = []
        _ = try fetch(
            target, limit: SegmentCipher.keyLength * 4, within: Self.answerTimeout
        ) { content throws(CameraFailure) in bytes.append(contentsOf: content) }
        newestKey = (target, bytes)
        return bytes
    }

    /// Requests a file, or a part of one, and passes its content to `body`.
    /// - Returns: where it came from, after redirections.
    mutating func fetch(
        _ place: RequestPlace, bytes: Range<Int64>? = nil, limit: Int, within timeout: Duration, _ body: Body
    ) throws(CameraFailure) -> RequestPlace {
        let deadline = MonotonicClock.now + timeout
        guard let bytes else {
            var file = try FileReader(place, try request(place, nil, until: deadline), bytes: nil)
            try file.read(nil, limit: limit, until: deadline, body)
            return file.origin
        }
        guard bytes.count <= limit else { throw .stream(.tooLarge) }
        var missing = bytes
        if let index = openFiles.firstIndex(where: { $0.place == place && $0.reaches(bytes) }) {
            var file = openFiles.remove(at: index)
            do throws(CameraFailure) {
                try file.read(bytes, limit: limit, until: deadline, body)
            } catch {
                if case .stream = error { throw error }
                // The server does not wait for as long as the segments are shown. The rest is requested.
            }
            missing = max(file.position, bytes.lowerBound)..<bytes.upperBound
            if missing.isEmpty {
                openFiles.append(file)
                return file.origin
            }
        }
        var file = try FileReader(place, try request(place, missing, until: deadline), bytes: missing)
        guard file.reaches(missing) else { throw .stream(.ignoresRanges) }
        do throws(CameraFailure) {
            try file.read(missing, limit: limit, until: deadline, body)
        } catch {
            guard case .unreachable = error, file.position < missing.lowerBound else { throw error }
            // The time was over before the part came.
            throw .stream(.ignoresRanges)
        }
        guard file.position == missing.upperBound else {
            throw .stream(.format(.damaged(.shortFile)))
        }
        if file.isWhole {
            openFiles.append(file)
            if openFiles.count > Self.maximumOpenFiles { openFiles.removeFirst() }
        }
        return file.origin
    }

    private mutating func request(
        _ place: RequestPlace, _ bytes: Range<Int64>?, until deadline: Instant
    ) throws(CameraFailure) -> CameraHTTPResponse {
        switch client.request(place, bytes: bytes, until: deadline, random: &random, connecting: {}) {
        case .stopped, .abandoned: throw .connectionClosed
        case .failed(let reason): throw reason
        case .answered(let response): return response
        }
    }

    static func withBytes(of piece: some Collection<UInt8>, _ body: Body) throws(CameraFailure) {
        guard !piece.isEmpty else { return }
        try Array(piece).withUnsafeBufferPointer { (bytes: UnsafeBufferPointer<UInt8>) throws(CameraFailure) in
            try body(UnsafeRawBufferPointer(bytes))
        }
    }
}
