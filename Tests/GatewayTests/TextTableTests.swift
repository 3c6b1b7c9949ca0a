import Gateway
import Testing

struct TextTableTests {
    @Test func columnsAreAligned() {
        var table = TextTable(header: ["ID", "NAME", "STATE"])
        table.add(["front-door", "Front door", "online"])
        table.add(["b", "B", "offline"])
        table.addRemark("cannot connect")
        #expect(
            table.text == """
                ID          NAME        STATE
                front-door  Front door  online
                b           B           offline
                  cannot connect
                """)
    }

    @Test(arguments: [
        ("door", 4), ("Tür", 3), ("Tu\u{308}r", 3), ("門", 2), ("玄関カメラ", 10), ("현관", 4), ("🔔", 2), ("👨‍👩‍👧", 2),
        ("🇩🇪", 2), ("❤️", 2), ("ｶﾒﾗ", 3), ("a\u{200B}b", 2), ("", 0),
    ])
    func theWidthOfATextOnATerminalIsKnown(text: String, width: Int) {
        #expect(TextTable.width(of: text) == width)
    }

    @Test func aRowEndsWithoutSpaces() {
        var table = TextTable(header: ["ID", "NAME"])
        table.add(["a", ""])
        #expect(table.text == "ID  NAME\na")
    }
}
