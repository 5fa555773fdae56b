//! `metadata.csv` sidecars.

use std::path::Path;

use tessera_model::vql::ColumnValue;

use super::{TestFolder, describe, pixels};

#[test]
fn invalid_rows_are_reported_and_the_others_used() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg", "deep/3.jpg", "4.jpg", "5.jpg"]);
    let table = concat!(
        "\u{feff}File_Name ,caption,text,labels,label,tags,user_tags,objects,more\r\n",
        "1.jpg,\"A \"\"red\"\"\r\nboat, far.\",ignored,boat | sea;boat,,x,y,,7\r\n",
        "\r\n",
        "2.jpg,,A car.,\"[\"\"car\"\", \"\"a|b\"\"]\",vehicle\r\n",
        "3.jpg,,,,,,,\"{\"\"bbox\"\": [[1, 2, 3, 4]], \"\"categories\"\": [\"\"cat\"\"]}\"\r\n",
        "4.jpg,good,,\"[\"\"kept\"\", [1]]\",,[tag],,[\r\n",
        ",nobody's\r\n",
        "9.jpg,nothing\r\n",
        "/8.jpg,outside\r\n",
    );
    folder.write("metadata.csv", table);
    let expected = [
        describe("1.jpg", "A \"red\"\r\nboat, far.", "boat sea", "x y", ""),
        describe("2.jpg", "A car.", "car a|b vehicle", "", ""),
        describe("4.jpg", "good", "kept", "", ""),
        describe("deep/3.jpg", "", "deep", "", "cat"),
    ];
    assert_eq!(folder.descriptions(), expected);
    let why = "line 7: its labels are not a list of strings; line 8: it has no file_name; line 9: its file_name is not in the folder; 1 more line";
    assert_eq!(folder.problem_of("metadata.csv"), why);
}

#[test]
fn a_label_may_be_a_list() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg", "3.jpg"]);
    let rows = r#"1.jpg;"[""cat"", ""dog""]"
2.jpg;['cat', 'dog']
3.jpg;[unknown]"#;
    folder.write("metadata.csv", format!("file_name;label\n{rows}\n"));
    let expected = [
        describe("1.jpg", "", "cat dog", "", ""),
        describe("2.jpg", "", "cat dog", "", ""),
        describe("3.jpg", "", "[unknown]", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn a_box_has_two_corners_or_a_corner_and_sides() {
    for (header, row, labels, objects) in [
        ("file,class,x,y,width,height", "bolt,1,2,3,4", "", "bolt"),
        ("file,label,bbox_x,bbox_y,bbox_width,bbox_height", "a,1,2,3,4", "", "a"),
        ("file,label,xmin,xmax,ymin,ymax", "a,1,4,2,6", "", "a"),
        ("file,width,height,label,x,y", "64,48,cat,5,6", "cat", ""),
        ("file,x1,y1,x2,y2,class", "1,2,4,6,a", "", "a"),
        ("file,label,x0,y0,x1,y1", "a,1,2,4,6", "", "a"),
        ("file,width,height,x_min,y_min,x_max,y_max,class_name", "64,48,1,2,4,6,a", "", "a"),
        ("file,label,XMin,YMin,XMax,YMax", "a,1,2,4,6", "", "a"),
        ("file,label,minx,miny,maxx,maxy", "a,1,2,4,6", "", "a"),
        ("file,label,left,top,right,bottom", "a,4,6,1,2", "", "a"),
        ("file,label,xtl,ytl,xbr,ybr", "a,1,2,4,6", "", "a"),
        ("file,label,bbox_x1,bbox_y1,bbox_x2,bbox_y2", "a,1,2,4,6", "", "a"),
        ("file,label,bbox_xmin,bbox_ymin,bbox_xmax,bbox_ymax", "a,1,2,4,6", "", "a"),
        ("file,label,bbox_x,bbox_y,bbox_w,bbox_h", "a,1,2,3,4", "", "a"),
        ("file,label,x,y,w,h", "a,1,2,3,4", "", "a"),
        ("file,label,left,top,width,height", "a,1,2,3,4", "", "a"),
        ("file,label,xmin,ymin,width,height", "a,1,2,3,4", "", "a"),
        ("file,label,x_center,y_center,w,h", "a,2.5,4,3,4", "", "a"),
        ("file,label,x1,y1,x2,y2,x3,y3,x4,y4", "a,1,2,4,2,4,6,1,6", "", "a"),
        ("file,label,bbox", "a,\"[1, 2, 3, 4]\"", "", "a"),
        ("file,bounding box,label", "[1 2 3 4],a", "", "a"),
        ("file,label,x,y", "cat,5,6", "cat", ""),
        ("file,label,width,height,left", "cat,5,6,7", "cat", ""),
        ("file,label,x1,y1,x2,y2,x3,y3", "cat,1,2,4,2,4,6", "cat", ""),
        ("file,caption,x1,y1,x2,y2", ",1,2,4,6", "", ""),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write("table.csv", format!("{header}\n1.jpg,{row}\n"));
        let described = folder.descriptions();
        assert_eq!(described, [describe("1.jpg", "", labels, "", objects)], "{header}");
        let described = folder.read_sidecars().descriptions.into_values();
        let has_columns = described.flat_map(|it| it.extra_columns).next().is_some();
        assert_eq!(has_columns, objects.is_empty(), "{header}");
        if !objects.is_empty() {
            assert_eq!(folder.boxes("1.jpg")[0], pixels(1.0, 2.0, 3.0, 4.0), "{header}");
        }
        assert!(folder.read_sidecars().problems.is_empty(), "{header}");
    }
}

#[test]
fn the_choices_of_a_table_of_label_studio_are_labels() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let cell = r#""{""choices"": [""cat"", ""dog""]}""#;
    folder.write("project.csv", format!("image,id,label\n1.jpg,1,{cell}\n"));
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "cat dog", "", "")]);
}

#[test]
fn a_label_is_never_json() {
    for cell in [
        r#"[{""x"": 3.1, ""y"": 8.3, ""width"": 31.2, ""rectanglelabels"": [""bolt""]}]"#,
        r#"{""taxonomy"": [[""a"", ""b""]]}"#,
        r#"{""choices"": 7}"#,
    ] {
        let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
        folder.write("project.csv", format!("image,label\n1.jpg,\"{cell}\"\n2.jpg,{{odd}}\n"));
        assert_eq!(folder.descriptions(), [describe("2.jpg", "", "{odd}", "", "")]);
        assert_eq!(folder.problem_of("project.csv"), "line 2: its label is not a text");
    }
}

#[test]
fn boxes_have_decimal_commas_where_the_comma_separates_no_columns() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    for (separator, number) in [(";", "10,5"), ("\t", "10,5"), (";", "10.5"), (",", "\"10.5\"")] {
        let header = ["file_name", "label", "xmin", "ymin", "xmax", "ymax"].join(separator);
        let row = ["1.jpg", "nut", "1", "2", number, number].join(separator);
        folder.write("metadata.csv", format!("{header}\n{row}\n"));
        assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "nut")], "{row}");
    }
}

#[test]
fn columns_of_the_user_have_decimal_commas_only_between_semicolons() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    for (table, expected) in [
        ("file_name;caption;score\n1.jpg;x;0,75\n", ColumnValue::Number(0.75)),
        ("file_name;caption;score\n1.jpg;x;-12,5\n", ColumnValue::Number(-12.5)),
        ("file_name;caption;score\n1.jpg;x;1,2,3\n", ColumnValue::Text("1,2,3".to_owned())),
        ("file_name;caption;score\n1.jpg;x;01,5\n", ColumnValue::Text("01,5".to_owned())),
        ("file_name,caption,score\n1.jpg,x,\"0,75\"\n", ColumnValue::Text("0,75".to_owned())),
        ("file_name\tcaption\tscore\n1.jpg\tx\t1,10\n", ColumnValue::Text("1,10".to_owned())),
        ("file_name|caption|score\n1.jpg|x|12,345\n", ColumnValue::Text("12,345".to_owned())),
    ] {
        folder.write("metadata.csv", table);
        let found = folder.read_sidecars().descriptions.into_values().next().unwrap();
        assert_eq!(found.extra_columns["score"], expected, "{table}");
    }
}

#[test]
fn a_column_of_texts_keeps_the_spelling_of_its_cells() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    let text = |text: &str| ColumnValue::Text(text.to_owned());
    for (media, cells, expected) in [
        ("", ["7e3", "abc"], text("7e3")),
        ("", ["1.10", "abc"], text("1.10")),
        ("", [".5", "abc"], text(".5")),
        ("", ["True", "abc"], text("True")),
        ("", ["1.10", "True"], text("1.10")),
        ("", ["12", "abc"], ColumnValue::Number(12.0)),
        ("", ["1.10", "nan"], ColumnValue::Number(1.1)),
        ("", ["True", "FALSE"], ColumnValue::Flag(true)),
        ("m", ["1.10", "2"], text("1.10")),
        ("m", ["1.0", "2.50"], text("1.0")),
        ("m", ["1.0", "2.5"], ColumnValue::Number(1.0)),
    ] {
        let [one, other] = cells;
        let rows = format!("1.jpg,{media},{one}\n2.jpg,{media},{other}\n");
        folder.write("metadata.csv", format!("file_name,media_id,version\n{rows}"));
        let found = &folder.read_sidecars().descriptions[Path::new("1.jpg")];
        assert_eq!(found.extra_columns["version"], expected, "{cells:?}");
    }
}

#[test]
fn a_box_without_all_its_numbers_is_reported() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg", "3.jpg"]);
    for sides in
        ["xmin,ymin,xmax,ymax", "x,y,width,height", "x1,y1,x2,y2", "bbox_x,bbox_y,bbox_w,bbox_h"]
    {
        let rows = "1.jpg,cat,1,2,3,4\n2.jpg,cat,1,2,3,\n3.jpg,cat,,,,nan\n";
        folder.write("metadata.csv", format!("file_name,label,{sides}\n{rows}"));
        let expected = [describe("1.jpg", "", "", "", "cat"), describe("3.jpg", "", "cat", "", "")];
        let described = folder.descriptions();
        assert_eq!(
            described.iter().filter(|it| it.contains("cat")).collect::<Vec<_>>(),
            expected.each_ref()
        );
        let why = "line 3: its box is empty, outside the picture, or not in numbers";
        assert_eq!(folder.problem_of("metadata.csv"), why);
        let columns = folder.read_sidecars().descriptions.into_values();
        assert!(columns.flat_map(|it| it.extra_columns).next().is_none(), "{sides}");
    }
}

#[test]
fn only_the_apostrophes_of_an_export_are_removed() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let read = |row: &str| {
        folder.write("metadata.csv", format!("file_name,media_id,caption,label\n1.jpg,{row}\n"));
        folder.descriptions()
    };
    for (text, escaped) in [("@home' she said", "'@home' she said"), ("'=already", "''=already")] {
        assert_eq!(
            read(&format!(",{escaped},{escaped}")),
            [describe("1.jpg", escaped, escaped, "", "")]
        );
        let exported = read(&format!("m,{escaped},{escaped}"));
        assert_eq!(exported, [describe("1.jpg", text, text, "", "")]);
    }
    for (mark, name) in [("media_id", "=1"), ("place", "'=1")] {
        folder.write("metadata.csv", format!("file_name,{mark},text,'=1\n1.jpg,m,a,b\n"));
        let found = folder.read_sidecars().descriptions;
        assert!(found[Path::new("1.jpg")].extra_columns.contains_key(name), "{found:?}");
    }
}

#[test]
fn the_rating_of_a_user_replaces_that_of_the_picture_in_an_export() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let header = "file_name,media_id,labels,user_rating";
    folder.write("metadata.csv", format!("{header}\n1.jpg,m,rating:3|rating:pg13|sea,5\n"));
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "rating:pg13 sea rating:5", "", "")]);
}

#[test]
fn a_table_without_file_names_is_reported() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    for (table, why) in [
        (&b""[..], "it has no column file_name"),
        (b"name,caption\n1.jpg,x\n", "it has no column file_name"),
        (b"file_name,\xc3\xb6\xff\n1.jpg,x\n", "line 1: it is not UTF-8; save it as UTF-8"),
        (
            b"file_name,text\n1.jpg,\xc3\xb6\xff\n\n1.jpg,\xff\n",
            "line 2: it is not UTF-8; save it as UTF-8; 1 more line",
        ),
    ] {
        folder.write("metadata.csv", table);
        assert_eq!(folder.problem_of("metadata.csv"), why);
    }
}

#[test]
fn lists_of_python_and_other_encodings() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    folder.write("metadata.csv", "file_name,labels,tags\n1.jpg,\"['sea', 'a b']\",['x']\n");
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "sea a b", "x", "")]);
    // A word in Windows-1251 is not read as if it were in Windows-1252.
    let table = [&b"file_name,caption\n1.jpg,"[..], b"\xEA\xEB\xFE\xF7\n"].concat();
    folder.write("metadata.csv", table);
    assert_eq!(folder.problem_of("metadata.csv"), "line 2: it is not UTF-8; save it as UTF-8");
}

#[test]
fn blanks_before_quotes_are_ignored() {
    for (table, caption) in [
        ("\"file_name\", \"caption\"\n\"1.jpg\", \"a boat, far\"\n", "a boat, far"),
        ("file_name; caption\n1.jpg;   \"a; \"\"b\"\"\"\n", "a; \"b\""),
        (" \"file_name\"| \"caption\"\r\n 1.jpg | \"a\nb\" \r\n", "a\nb"),
        ("file_name,caption\n1.jpg,the \"big\" \"boat\"\n", "the \"big\" \"boat\""),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write("metadata.csv", table);
        assert_eq!(folder.descriptions(), [describe("1.jpg", caption, "", "", "")], "{table}");
        assert!(folder.read_sidecars().problems.is_empty(), "{table}");
    }
}

#[test]
fn a_class_applies_if_its_cell_says_yes() {
    for (cells, labels, why) in [
        ("True,False,", "a", None),
        ("yes,No,nan", "a", None),
        ("x,,X", "a c", None),
        ("0.0,1.0,0", "b", None),
        ("0.3,1,-1", "b", Some("line 2: a cell of a class is neither 0 nor 1")),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write("_classes.csv", format!("filename,a,b,c\n1.jpg,{cells}\n"));
        assert_eq!(folder.descriptions(), [describe("1.jpg", "", labels, "", "")], "{cells}");
        let problem = folder.read_sidecars().problems.into_values().next();
        assert_eq!(problem.as_deref(), why, "{cells}");
    }
}

#[test]
fn a_text_whose_quotes_do_not_end_is_reported() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    folder
        .write("metadata.csv", "file_name;caption\n1.jpg;a \"big\" dog\n2.jpg;\"a cat\n1.jpg;b\n");
    assert_eq!(folder.descriptions(), [describe("1.jpg", "a \"big\" dog", "", "", "")]);
    let why = "line 3: a text in quotes goes on to the end of the file; add the closing quotes";
    assert_eq!(folder.problem_of("metadata.csv"), why);
    folder.write("metadata.csv", "file_name,caption\n1.jpg,\"a dog\"\n2.jpg,\"a\n\"\"cat\"\"\"");
    let read =
        [describe("1.jpg", "a dog", "", "", ""), describe("2.jpg", "a\n\"cat\"", "", "", "")];
    assert_eq!(folder.descriptions(), read);
}

#[test]
fn tables_of_spreadsheets_are_read() {
    let utf_16 = |text: &str| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let latin = |text: &str| text.chars().map(|c| u8::try_from(c).unwrap()).collect::<Vec<u8>>();
    for (name, table) in [
        ("metadata.csv", "\u{feff}file_name;caption\r\n1.jpg;Möbel, neu\r\n".as_bytes().to_vec()),
        ("metadata.csv", latin("File Name;Caption\r\n1.jpg;Möbel, neu\r\n")),
        ("metadata.csv", latin("sep=;\r\nfilename;TEXT\r\n1.jpg;\"Möbel, neu\"\r\n")),
        ("metadata.csv", utf_16("path\tcaption\r\n1.jpg\tMöbel, neu\r\n")),
        ("metadata.tsv", "image\tdescription\n1.jpg\tMöbel, neu\n".as_bytes().to_vec()),
        ("metadata.csv", "caption|image_path\nMöbel, neu|1.jpg\n".as_bytes().to_vec()),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write(name, &table);
        let captions: Vec<_> =
            folder.read_sidecars().descriptions.into_values().map(|it| it.caption).collect();
        let text = String::from_utf8_lossy(&table);
        assert_eq!(captions, [Some("Möbel, neu".to_owned())], "{text}");
    }
}

#[test]
fn cells_are_read_as_other_programs_write_them() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg", "3.jpg"]);
    let table = "file_name,label,caption,place\n1.jpg,3.0,nan,None\n2.jpg,NaN,a dog, on a beach\n\
        3.jpg,v1.0,N/A,Rome,,\n";
    folder.write("metadata.csv", table.replace("a dog, on", "a dog, x, on"));
    let expected = [describe("1.jpg", "", "3", "", ""), describe("3.jpg", "", "v1.0", "", "")];
    assert_eq!(folder.descriptions(), expected);
    let why = "line 3: it has more cells than the header; put a text with commas in quotes";
    assert_eq!(folder.problem_of("metadata.csv"), why);
    let column_count =
        |path: &str| folder.read_sidecars().descriptions[Path::new(path)].extra_columns.len();
    assert_eq!((column_count("1.jpg"), column_count("3.jpg")), (0, 1));
    // An export writes what it means.
    folder.write("metadata.csv", "file_name,media_id,label,caption\n1.jpg,m,3.0,NA\n");
    assert_eq!(folder.descriptions(), [describe("1.jpg", "NA", "3.0", "", "")]);
}

#[test]
fn tables_of_other_names_are_read_if_they_describe_pictures() {
    for (name, table, labels, objects) in [
        ("train.csv", "filename,label\n..\\images\\1.jpg,cat\n", "cat", ""),
        ("labels/all.tsv", "image\tclass\n1.jpg\tcat\n1.jpg\tdog\n", "cat dog", ""),
        ("captions.txt", "image,caption\n1.jpg,\"a dog, far\"\n", "", ""),
        ("results.csv", "image_name| comment_number| comment\n1.jpg| 0| a dog, far\n", "", ""),
        ("images/_classes.csv", "filename, cat, dog, eel\n1.jpg, 1, 0, 1\n", "cat eel", ""),
        (
            "images/_annotations.csv",
            "filename,width,height,class,xmin,ymin,xmax,ymax\n\
             1.jpg,64,48,bolt,1,2,4,6\n1.jpg,64,48,nut,1,2,3,4\n",
            "",
            "bolt nut",
        ),
    ] {
        let folder = TestFolder::with_media(&["images/1.jpg"]);
        folder.write(name, table);
        let caption = if table.contains("far") { "a dog, far" } else { "" };
        let expected = describe("images/1.jpg", caption, labels, "", objects);
        assert_eq!(folder.descriptions(), [expected], "{name}");
        let reading = folder.read_sidecars();
        assert_eq!((reading.sidecars.len(), reading.problems.len()), (1, 0), "{name}");
        if !objects.is_empty() {
            assert_eq!(folder.boxes("images/1.jpg")[0], pixels(1.0, 2.0, 3.0, 4.0));
        }
    }
    let folder = TestFolder::with_media(&["1.jpg"]);
    folder.write("prices.csv", "path,price\n1.jpg,7\n");
    folder.write("notes.txt", "A list, with an image:\n1.jpg,7\n");
    folder.write("others.csv", "path,label\n9.jpg,cat\n");
    folder.write("wrong.csv", "path,class,xmin,ymin,xmax,ymax\n1.jpg,cat,1,2,1,4\n");
    assert!(folder.descriptions().is_empty());
    let why = "line 2: its box is empty, outside the picture, or not in numbers";
    assert_eq!(folder.problem_of("wrong.csv"), why);
    let why = "line 2: its file_name is not in the folder";
    assert_eq!(folder.problem_of("others.csv"), why);
    assert_eq!(folder.read_sidecars().sidecars.len(), 2);
    let folder = TestFolder::with_media(&["p/a.jpg", "q/a.jpg"]);
    folder.write("x.csv", "file_name,caption\na.jpg,c0\n");
    let why =
        "line 2: its file_name matches several files in the folder, such as p/a.jpg and q/a.jpg";
    assert_eq!(folder.problem_of("x.csv"), why);
}
