import Codecs
import HTTPMedia

extension FuzzTarget {
    static let httpPictures = FuzzTarget(
        "http-pictures", "a camera's JPEG pictures over HTTP: the same however the bytes are split, and decoded",
        maximumLength: 8192,
        dictionary: [
            "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: ", "\r\n\r\n", "--frame\r\n",
            "Content-Type: multipart/x-mixed-replace;boundary=frame\r\n", "\u{1}\u{0}", "\r\n0\r\n\r\n",
        ],
        seeds: {
            let head = [UInt8](text: "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=b\r\n\r\n")
            let part = [UInt8](text: "--b\r\nContent-Type: image/jpeg\r\nContent-Length: 9\r\n\r\n")
            var frame = I420Frame(width: 18, height: 10)
            for index in frame.luma.indices { frame.luma[index] = UInt8(truncatingIfNeeded: 20 + index) }
            guard let file = try? JPEGEncoder.encode(frame, quality: 30) else { return [] }
            let size = [UInt8](text: String(file.count, radix: 16))
            let line = [UInt8](text: "\r\n")
            let chunked = [UInt8](text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") + size + line
            let cut = file[..<(file.count / 2)]
            return [
                [3] + head + part + file + line + part + file, [0] + head + part + cut + line + part + file,
                [40] + chunked + file + line + [UInt8](text: "0\r\n\r\n"),
            ]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let size = Int(input.byte()) + 1
        let rest = input.rest()
        func read(_ size: Int) -> [[UInt8]] {
            var reader = HTTPStreamReader()
            var scanner = JPEGStreamScanner(maximumLength: 4096)
            var found: [[UInt8]] = []
            for piece in rest.pieces(of: size) {
                do throws(HTTPStreamError) {
                    try Array(piece).withUnsafeBufferPointer { bytes throws(HTTPStreamError) in
                        try reader.append(UnsafeRawBufferPointer(bytes)) { content in
                            scanner.append(content) { found.append($0) }
                        }
                    }
                } catch {
                    break
                }
            }
            return found
        }
        let whole = read(max(1, rest.count))
        try require(read(size) == whole, "pieces of \(size) bytes give other pictures")
        for file in whole.prefix(4) {
            try require(
                file.starts(with: [0xFF, 0xD8, 0xFF]) && file.suffix(2) == [0xFF, 0xD9] && file.count <= 4096,
                "a picture of \(file.count) bytes does not begin and end like one")
            guard let picture = try? JPEGDecoder.decode(file, maximumPixels: 1 << 14) else { continue }
            try require(picture.frame.luma.count <= 1 << 14, "a picture is larger than allowed")
        }
    }
}
