import RTP

/// The boxes of CMAF headers and chunks (ISO/IEC 23000-19, section 7).
extension BoxWriter {
    /// The header of a track: its brands and its description.
    mutating func writeCMAFHeader(_ track: MP4Track, identifier: UInt32) {
        box("ftyp") {
            $0.write(ascii: "cmfc")
            $0.write(UInt32(0))
            // `cmf2`: no edit list, and signed composition offsets (section 7.2).
            for brand: StaticString in ["cmfc", "cmf2", "iso6", "isom"] { $0.write(ascii: brand) }
        }
        writeMovie([track], firstIdentifier: identifier)
    }

    /// A chunk.
    mutating func writeCMAFChunk(_ chunk: CMAFChunkDescription, _ samples: ArraySlice<MP4Sample>, isVideo: Bool) {
        if chunk.beginsSegment {
            box("styp") {
                $0.write(ascii: "msdh")
                $0.write(UInt32(0))
                for brand: StaticString in ["msdh", "msix", "cmfs", "cmff", "cmfl"] { $0.write(ascii: brand) }
            }
        }
        writeProducerReferenceTime(
            of: chunk.identifier, wallTime: chunk.wallTime, mediaTime: samples.first?.decodeTime ?? 0)
        for event in chunk.events { writeEvent(event, timescale: chunk.timescale) }
        let start = count
        var position = 0
        box("moof") {
            $0.fullBox("mfhd") { $0.write(chunk.sequenceNumber) }
            position = $0.writeTrackFragment(samples, until: chunk.end, identifier: chunk.identifier, isVideo: isVideo)
        }
        overwrite(UInt32(truncatingIfNeeded: count - start + 8), at: position)
        box("mdat") { for sample in samples { $0.write(sample.data) } }
    }

    /// Producer Reference Time Box (ISO/IEC 14496-12, section 8.16.5). The flags say that the time is that of capture.
    private mutating func writeProducerReferenceTime(of identifier: UInt32, wallTime: Int64, mediaTime: Int64) {
        fullBox("prft", version: 1, flags: 24) {
            $0.write(identifier)
            $0.write(NTPTimestamp(unixNanoseconds: wallTime).rawValue)
            $0.write(UInt64(bitPattern: mediaTime))
        }
    }

    /// Event Message Box, version 1 (ISO/IEC 23009-1, section 5.10.3.3).
    private mutating func writeEvent(_ event: CMAFEvent, timescale: Int) {
        fullBox("emsg", version: 1) {
            $0.write(UInt32(truncatingIfNeeded: timescale))
            $0.write(UInt64(bitPattern: event.time))
            $0.write(event.duration ?? .max)
            $0.write(event.number)
            for text in [event.scheme, event.value] {
                // A zero ends each of them.
                $0.write(text.utf8.filter { $0 != 0 })
                $0.write(UInt8(0))
            }
            $0.write(event.message)
        }
    }
}

/// What a chunk's boxes say besides its samples.
struct CMAFChunkDescription {
    var beginsSegment: Bool
    var identifier: UInt32
    var wallTime: Int64
    var timescale: Int
    var sequenceNumber: UInt32
    /// When the last sample ends.
    var end: Int64
    var events: [CMAFEvent]
}
