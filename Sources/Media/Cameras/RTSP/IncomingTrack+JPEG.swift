import RTP

extension IncomingTrack {
    /// Takes in a JPEG payload (RFC 2435). One that does not fit is cut: each piece has the headers anew, with the place
    /// where its data stand in the picture.
    mutating func receiveJPEG(_ payload: UnsafeRawBufferPointer, marker: Bool) {
        guard let header = JPEGPayloadHeader(parsing: payload) else {
            countUnusable()
            return
        }
        // Every picture stands for itself.
        if header.fragmentOffset == 0 { frame?.isKeyFrame = true }
        guard !fits(payload), header.length * 2 < limit else {
            emit(payload, marker: marker)
            return
        }
        // Behind the main header only the restart header is repeated.
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
                    // The pieces do not begin at restart markers any more: the whole picture is to be put together
                    // (section 3.1.7).
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
