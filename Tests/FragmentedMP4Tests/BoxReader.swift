/// One box of a file, read back.
struct Box {
    let type: String
    let content: [UInt8]
    /// Where the content starts in the data.
    let offset: Int

    /// The boxes that follow each other in `bytes` from `start` on; nil if one does not fit.
    static func all(in bytes: [UInt8], from start: Int = 0) -> [Box]? {
        var boxes: [Box] = []
        var offset = start
        while offset < bytes.count {
            guard bytes.count - offset >= 8 else { return nil }
            let size = bigEndian(bytes[offset..<offset + 4])
            guard size >= 8, size <= bytes.count - offset else { return nil }
            boxes.append(
                Box(
                    type: String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self),
                    content: Array(bytes[offset + 8..<offset + size]), offset: offset + 8))
            offset += size
        }
        return boxes
    }

    /// The first box found by following `path` from here.
    func find(_ path: String...) -> Box? {
        var box: Box? = self
        for type in path { box = box.flatMap { Box.all(in: $0.content)?.first { $0.type == type } } }
        return box
    }

    func integer(at offset: Int, length: Int = 4) -> Int {
        Self.bigEndian(content[offset..<offset + length])
    }

    static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}

/// One sample of a fragment, read back.
struct ReadSample: Equatable {
    var track: Int
    var time: Int
    var duration: Int
    var isKeyFrame: Bool
    var data: [UInt8]
}

/// The samples of all the fragments in `bytes`.
func samples(in bytes: [UInt8]) -> [ReadSample]? {
    guard let boxes = Box.all(in: bytes) else { return nil }
    var result: [ReadSample] = []
    for moof in boxes where moof.type == "moof" {
        for traf in Box.all(in: moof.content) ?? [] where traf.type == "traf" {
            guard let tfhd = traf.find("tfhd"), let tfdt = traf.find("tfdt"), let trun = traf.find("trun") else {
                return nil
            }
            var time = tfdt.integer(at: 4, length: 8)
            var position = moof.offset - 8 + trun.integer(at: 8)
            for index in 0..<trun.integer(at: 4) {
                let entry = 12 + index * 16
                let length = trun.integer(at: entry + 4)
                guard position + length <= bytes.count else { return nil }
                result.append(
                    ReadSample(
                        track: tfhd.integer(at: 4) - 1, time: time, duration: trun.integer(at: entry),
                        isKeyFrame: trun.integer(at: entry + 8) & 0x1_0000 == 0,
                        data: Array(bytes[position..<position + length])))
                time += trun.integer(at: entry)
                position += length
            }
        }
    }
    return result
}
