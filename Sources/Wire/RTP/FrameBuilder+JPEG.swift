/// The state of the JPEG picture that is being assembled (RFC 2435).
struct JPEGReassembly: Sendable {
    /// The tables of the qualities 128 to 254, which the stream need not repeat; at most a few.
    private(set) var tables: [UInt8: (bytes: [UInt8], precision: UInt8)] = [:]
    /// Where the entropy-coded data starts in the frame's data.
    var headerLength = 0

    mutating func learn(_ quality: UInt8, _ bytes: [UInt8], precision: UInt8) {
        // 255 means tables for this picture only.
        guard quality < 255, bytes.count <= 256 else { return }
        if tables.count >= 8, tables[quality] == nil { tables.removeAll() }
        tables[quality] = (bytes, precision)
    }
}

extension FrameBuilder {
    /// Adds a JPEG payload. The first one contains what the file's headers are made from.
    mutating func appendJPEG(_ payload: UnsafeRawBufferPointer) {
        guard let header = JPEGPayloadHeader(parsing: payload) else {
            malformedCount &+= 1
            damage()
            return
        }
        if data.isEmpty {
            guard header.fragmentOffset == 0 else {
                damage()
                return
            }
            guard let (tables, precision) = quantization(header, payload),
                let headers = JPEGHeaders.make(header, tables: tables, precision: precision)
            else {
                malformedCount &+= 1
                damage()
                return
            }
            data.append(contentsOf: headers)
            jpeg.headerLength = headers.count
            isKeyFrame = true
        }
        guard data.count - jpeg.headerLength == header.fragmentOffset else {
            damage()
            return
        }
        data.append(contentsOf: payload.from(header.length))
    }

    /// Ends the file where the camera did not.
    mutating func finishJPEG() {
        guard data.count > jpeg.headerLength, data.suffix(2) != [0xFF, 0xD9] else { return }
        data.append(0xFF)
        data.append(0xD9)
    }

    private mutating func quantization(
        _ header: JPEGPayloadHeader, _ payload: UnsafeRawBufferPointer
    ) -> (bytes: [UInt8], precision: UInt8)? {
        switch header.quality {
        case 1...99: return (JPEGTables.quantization(quality: header.quality), 0)
        case 128...:
            guard let range = header.tables else { return jpeg.tables[header.quality] }
            let bytes = Array(payload[range])
            jpeg.learn(header.quality, bytes, precision: header.tablePrecision)
            return (bytes, header.tablePrecision)
        default: return nil
        }
    }
}
