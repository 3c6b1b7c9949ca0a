/// The parts of the description of a movie that are the same with and without fragments (ISO/IEC 14496-12, section 8).
extension BoxWriter {
    /// The fields of `mvhd` behind its duration.
    mutating func writeMovieHeaderEnd(trackCount: Int) {
        write(UInt32(0x0001_0000))
        write(UInt16(0x0100))
        zeros(10)
        writeUnityMatrix()
        zeros(24)
        write(UInt32(trackCount + 1))
    }

    /// The fields of `tkhd` behind its duration.
    mutating func writeTrackHeaderEnd(isVideo: Bool, width: UInt32, height: UInt32) {
        zeros(8)
        write(UInt16(0))
        write(UInt16(0))
        write(UInt16(isVideo ? 0 : 0x0100))
        write(UInt16(0))
        writeUnityMatrix()
        write(width << 16)
        write(height << 16)
    }

    /// The fields of `mdhd` behind its duration: "und" (language unknown), as three letters of five bits.
    mutating func writeMediaHeaderEnd() {
        write(UInt16(0x55C4))
        write(UInt16(0))
    }

    /// `hdlr` and `minf`, with the boxes that `sampleTable` writes into `stbl`.
    mutating func writeMedia(isVideo: Bool, sampleTable: (inout BoxWriter) -> Void) {
        fullBox("hdlr") {
            $0.write(UInt32(0))
            $0.write(ascii: isVideo ? "vide" : "soun")
            $0.zeros(12)
            $0.write(ascii: isVideo ? "Video" : "Sound")
            $0.write(UInt8(0))
        }
        box("minf") {
            if isVideo {
                $0.fullBox("vmhd", flags: 1) { $0.zeros(8) }
            } else {
                $0.fullBox("smhd") { $0.zeros(4) }
            }
            $0.box("dinf") {
                $0.fullBox("dref") {
                    $0.write(UInt32(1))
                    // The samples are in this file.
                    $0.fullBox("url ", flags: 1) { _ in }
                }
            }
            $0.box("stbl", sampleTable)
        }
    }

    private mutating func writeUnityMatrix() {
        for value: UInt32 in [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000] { write(value) }
    }
}
