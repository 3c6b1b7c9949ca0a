import RTP

extension IncomingTrack {
    /// Receives a JPEG payload (RFC 2435). One that does not fit is cut: each piece repeats the headers, with the
    /// offset of its data in the picture.
    mutating func receiveJPEG(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard let header = JPEGPayloadHeader(parsing: payload) else {
            countUnusable()
            return
        }
        // Every picture is independent.
        if header.fragmentOffset == 0 { frame?.isKeyFrame = true }
        guard !fits(payload), header.length * 2 < limit else {
            emit(payload, marker: marker)
            return
        }
        // After the main header only the restart header is repeated.
        let head = JPEGPayloadHeader.mainLength + (header.restartInterval == nil ? 0 : 4)
        withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer in
            var offset = header.length
            while offset < payload.count {
                let isFirst = offset == header.length
                let length = isFirst ? header.length : head
                let count = min(limit - length, payload.count - offset)
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: payload[..<length]))
                let place = header.fragmentOffset + offset - header.length
                buffer[1] = UInt8(truncatingIfNeeded: place >> 16)
                buffer[2] = UInt8(truncatingIfNeeded: place >> 8)
                buffer[3] = UInt8(truncatingIfNeeded: place)
                if header.restartInterval != nil {
                    // The pieces no longer begin at restart markers: the whole picture must be reassembled (section
                    // 3.1.7).
                    buffer[10] = 0xFF
                    buffer[11] = 0xFF
                }
                UnsafeMutableRawBufferPointer(rebasing: buffer[length...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: payload[offset..<offset + count]))
                offset += count
                emit(
                    UnsafeRawBufferPointer(rebasing: buffer[..<(length + count)]),
                    marker: marker && offset == payload.count)
            }
        }
    }
}
