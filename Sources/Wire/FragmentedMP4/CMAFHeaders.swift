import Transport

/// CMAF tracks in one file. Their chunks can follow each other in the order in which they were made; only the header in
/// front has to describe all of them.
public enum CMAFHeaders {
    /// One header for tracks that were written with different identifiers.
    /// - Parameter headers: the headers of the tracks (``CMAFTrackWriter/header``), in the order of their identifiers.
    /// - Throws: ``MP4ReadError`` where a header is not one.
    public static func joined(_ headers: [[UInt8]]) throws(MP4ReadError) -> [UInt8] {
        var tracks: [[UInt8]] = []
        var defaults: [[UInt8]] = []
        var last = 0
        for header in headers {
            last = max(last, try identifier(of: header))
            tracks += try boxes("trak", inside: [], of: header)
            defaults += try boxes("trex", inside: ["mvex"], of: header)
        }
        var writer = BoxWriter()
        writer.box("ftyp") {
            $0.write(ascii: "iso6")
            $0.write(UInt32(0))
            for brand: StaticString in ["iso6", "cmfc", "isom"] { $0.write(ascii: brand) }
        }
        writer.box("moov") {
            $0.writeMovieHeader(lastIdentifier: last)
            for track in tracks { $0.write(track) }
            $0.box("mvex") { for entry in defaults { $0.write(entry) } }
        }
        return writer.bytes
    }

    private static func identifier(of header: [UInt8]) throws(MP4ReadError) -> Int {
        try header.withUnsafeBufferPointer { bytes throws(MP4ReadError) in
            Int(try MP4Header(parsing: UnsafeRawBufferPointer(bytes)).tracks.map(\.identifier).max() ?? 0)
        }
    }

    private static func boxes(
        _ type: StaticString, inside path: [StaticString], of header: [UInt8]
    ) throws(MP4ReadError) -> [[UInt8]] {
        try header.withUnsafeBufferPointer { bytes throws(MP4ReadError) in
            var place = try MP4Boxes(UnsafeRawBufferPointer(bytes)).required("moov")
            for step in path { place = try place.children().required(step) }
            var found: [[UInt8]] = []
            var children = try place.children()
            while let child = try children.next() {
                if child.type == MP4Boxes.code(type) { found.append(Array(child.whole)) }
            }
            return found
        }
    }
}
