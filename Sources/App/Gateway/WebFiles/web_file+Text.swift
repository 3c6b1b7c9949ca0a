import CWebFiles

extension web_file {
    /// The file as text. Its bytes are part of the program and live as long as the process.
    var text: String { String(decoding: content, as: UTF8.self) }

    /// The file's bytes.
    var content: [UInt8] { Array(UnsafeRawBufferPointer(start: bytes, count: byte_count)) }
}
