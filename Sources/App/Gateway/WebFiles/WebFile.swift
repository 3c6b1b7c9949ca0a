import CWebFiles

/// One file of the page as it is in the program. Nothing of it is copied before somebody asks for its content.
struct WebFile: Sendable {
    /// Where it is served, for example `/assets/app.js`.
    let path: String
    let mediaType: String
    /// Calls back with the bytes, which are there until the call returns.
    let withBytes: @Sendable (_ body: (UnsafeRawBufferPointer) -> Void) -> Void

    /// A file that is not in the program.
    init(_ path: String, _ mediaType: String, _ bytes: [UInt8]) {
        self.path = path
        self.mediaType = mediaType
        withBytes = { body in bytes.withUnsafeBytes { body($0) } }
    }

    /// A file of the program, by its place there.
    private init(at index: Int) {
        let file = Self.program[index]
        path = String(cString: file.path)
        mediaType = String(cString: file.media_type)
        withBytes = { body in body(Self.program[index].buffer) }
    }

    /// The files that the program has.
    static var embedded: [WebFile] { program.indices.map { WebFile(at: $0) } }

    /// The program's own table. Pointers cannot be handed from thread to thread, but the table is the same for all.
    private static var program: UnsafeBufferPointer<web_file> {
        var count = 0
        let files = web_page_files(&count)
        return UnsafeBufferPointer(start: files, count: count)
    }

    /// A copy of the bytes.
    var content: [UInt8] {
        var content: [UInt8] = []
        withBytes { content = Array($0) }
        return content
    }
}
